#pragma once
// The enforcing half of the node daemon: asks every strategy at every tick, hands what they want to
// the executor, evicts, and keeps what a successor needs.
//
//   Enforcer enforcer({machine, clock, gates, audit}, options, defaultStrategies());
//   agent.onLook([&](const Look& look) { enforcer.tick(look, agent.node(), agent.topology()); });
//   enforcer.leave();                       // a clean exit: everything as it was
//
// A node labelled node.mangrove.io/enforcement=off gets everything back at the next tick. Owner
// thread; explain() from there too.

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "agent/executor/deeds.h"
#include "agent/executor/executor.h"
#include "agent/qos/evict/lately.h"
#include "agent/qos/strategy.h"
#include "agent/qos/strategy_list.h"
#include "api/koordinator/node_resource_topology.h"

namespace mangrove::agent {

inline constexpr std::string_view kEnforcementLabel = "node.mangrove.io/enforcement";

struct EnforcerSetup {
  const Machine& machine;
  Clock& clock;
  const FeatureGates& gates;
  AuditLog& audit;
  // Sends a pod away; false: not now, the budget is spent. Null: nobody is evicted.
  std::function<bool(const Ousting&)> evict = {};
  DeedTools tools = {};
  std::function<void(const WriteDone&)> wrote = {};  // after each write to a control file
};

struct EnforcerOptions {
  bool dryRun = false;
  std::set<std::string, std::less<>> dryStrategies = {};  // "name" or "name:file"
  std::string stateFile = {};  // "": a successor does not learn what files had before
  std::string diskPath = {};   // where pods keep their files; "": disks are not watched
};

// The kill switch: a label on the node.
bool isSwitchedOff(const api::Node* node);

class Enforcer {
 public:
  Enforcer(EnforcerSetup setup, EnforcerOptions options,
           std::vector<std::unique_ptr<Strategy>> strategies);

  // `knowsPods`: false while the API has not told them since the start.
  ApplyReport tick(const Look& look, const api::Node* node,
                   const api::NodeResourceTopology* topology, bool knowsPods = true);
  // Between two ticks, when a pod or a container begins: what hooks want for it is written at once,
  // also by those that look less often. The other strategies count in ticks and are not asked.
  ApplyReport podBegan(const Look& look, const api::Node* node,
                       const api::NodeResourceTopology* topology);
  // Between two ticks, when somebody else wrote to files that are held.
  ApplyReport repair(std::span<const FileKey> written);
  // Everything back to what it was; nothing is remembered.
  ApplyReport leave(std::string_view why);
  // A reflex narrowed this file between two ticks: it is given back like the others.
  void adopt(const FileKey& key, FileValue wanted, FileValue before, std::string_view owner) {
    executor_.adopt(key, std::move(wanted), std::move(before), owner);
  }

  const Executor& executor() const { return executor_; }
  // What everybody saw in the last tick.
  const Picture& picture() const { return picture_; }
  bool isOff() const { return off_; }
  // Whose way out is divided into classes now; "": nobody's.
  std::string networkDevice() const {
    for (const Entry& entry : entries_)
      if (entry.last.network) return entry.last.network->device;
    return "";
  }
  // Some resource runs short: evictors would like to evict, or cannot.
  bool inTrouble() const;
  // Some strategy goes by its conservative limit because nothing could be measured.
  bool isBlind() const;
  // Each control value, who wants it, why, since when, what it was.
  json::Value explain() const;

 private:
  struct Entry {
    std::unique_ptr<Strategy> strategy;
    StrategyInfo info;
    Wishes last;
    MonoTime next = MonoTime::min();
    bool decided = false;  // at least once since this process began
  };
  bool isDry(const Entry& entry) const;
  bool isDry(const Entry& entry, std::string_view file) const;
  void ask(Entry& entry, const Situation& now, bool between = false);
  void askAll(const Situation& now, bool knowsPods);
  void evict(Entry& entry, MonoTime at);
  ApplyReport apply();
  void load();
  void save();
  Result<> keep(const std::string& text) const;

  EnforcerSetup setup_;
  EnforcerOptions options_;
  Executor executor_;
  Deeds deeds_;
  Picture picture_;
  std::vector<Entry> entries_;
  std::string saved_;
  std::string saveTrouble_;  // said already
  EvictedLately saidDry_;    // evictions of dry runs
  bool off_ = false;
};

// `mangrove agent --restore`: gives back what a dead agent held, by its state file; without one,
// the best-effort group gets neutral values. Lines for people.
Result<std::vector<std::string>> restoreMachine(const Machine& machine, Clock& clock,
                                                const std::string& stateFile);

}  // namespace mangrove::agent
