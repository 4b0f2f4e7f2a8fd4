#pragma once
// What of the enforcing half does not wait for the tick, put together: the sentinel that cuts
// best-effort CPU when services wait, the thread that takes memory back, and the guardian that
// steps in when this process is gone.
//
//   Reflexes reflexes(setup, flags, gates, audit, {.evict = …, .again = …});
//   reflexes.join(strategies);          // as strategies they see the tick and want their values
//   reflexes.afterTick(look, node, off);
//   reflexes.stop();                    // before everything is given back
//
// Owner thread.

#include <functional>
#include <memory>
#include <vector>

#include "agent/agent.h"
#include "agent/flags.h"
#include "agent/guardian/guardian.h"
#include "agent/memory/give_back.h"
#include "agent/pressure/sentinel.h"
#include "agent/qos/evict/lately.h"
#include "agent/qos/strategy.h"

namespace mangrove::agent {

struct ReflexesSetup {
  Agent& agent;
  Mailbox& owner;
  Clock& clock;
  Registry& metrics;
  const FeatureGates& gates;
  AuditLog& audit;
  std::function<void(const Ousting&)> evict = {};
  std::function<void()> again = {};  // a tick at once
  // A file that was narrowed since the last tick, for whoever gives files back.
  std::function<void(const MemoryCap&)> narrowed = {};
  std::shared_ptr<const EvictedLately> lately = std::make_shared<EvictedLately>();
};

class Reflexes {
 public:
  Reflexes(ReflexesSetup setup, const AgentFlags& flags);
  ~Reflexes();

  void join(std::vector<std::unique_ptr<Strategy>>& strategies);
  // What a guardian did to memory when our predecessor died is handed over, to be given back. Before
  // the first beat.
  void adoptGuarded();
  void afterTick(const Look& look, const api::Node* node, bool off);
  void rest();  // until the strategies give orders again
  void stop();

 private:
  bool isDry(std::string_view strategy) const;
  void startSentinel(Duration interval);
  void startGiveBack();
  void startGuardian(const AgentFlags& flags);
  void wasCut(const Cut& cut);
  void wasTaken(const RungReport& report);
  void evict(const std::string& uid, Bytes frees);
  void show();
  MemoryCap groupMemory() const;
  void guardMemory(const Look& look, Heartbeat& beat) const;
  Heartbeat agreed(const Look& look, const api::Node* node, bool off) const;
  // Runs in the owner's thread unless we are gone by then.
  void post(std::function<void()> fn);
  void handOver();

  ReflexesSetup setup_;
  bool dryRun_;
  std::string heartbeat_;
  bool onPressureOnly_;
  std::set<std::string, std::less<>> dryStrategies_;
  std::unique_ptr<Sentinel> sentinel_;      // null: its gate is off
  std::unique_ptr<GiveBack> giveBack_;      // null: its gate is off
  std::unique_ptr<GuardianKeeper> keeper_;  // null: nobody guards
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mangrove::agent
