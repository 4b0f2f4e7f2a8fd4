#pragma once
// What of the enforcing half does not wait for the tick, put together: the sentinel that cuts
// best-effort CPU when services wait, the thread that takes memory back, and the guardian that
// steps in when this process is gone.
//
//   Reflexes reflexes({agent, owner, clock, metrics, gates, audit, …}, options, dry);
//   reflexes.join(strategies);          // as strategies they see the tick and want their values
//   reflexes.afterTick(look, node, off);
//   reflexes.stop();                    // before everything is given back
//
// Owner thread.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "agent/guardian/guardian.h"
#include "agent/memory/give_back.h"
#include "agent/pressure/sentinel.h"
#include "agent/qos/enforcer.h"
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

struct ReflexOptions {
  // Between two looks at services' pressure, where the kernel does not wake us.
  Duration pressureInterval = std::chrono::milliseconds(50);
  bool suppressOnPressure = false;  // no quota while services do not wait
  std::string heartbeat = {};       // file; "": nobody guards
  bool guardian = true;             // as a child of ours; false where it is a container beside us
  std::string root = "/";           // of the machine, for the guardian
};

class Reflexes {
 public:
  // `dry`: whose strategies only say what they would do.
  Reflexes(ReflexesSetup setup, ReflexOptions options, EnforcerOptions dry);
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
  void startSentinel();
  void startGiveBack();
  void wasCut(const Cut& cut);
  void wasTaken(const RungReport& report);
  void evict(const std::string& uid, Bytes frees, const std::string& loss);
  void show();
  MemoryCap groupMemory() const;
  void guardMemory(const Look& look, Heartbeat& beat) const;
  Heartbeat agreed(const Look& look, const api::Node* node, bool off) const;
  // Runs in the owner's thread unless we are gone by then.
  void post(std::function<void()> fn);
  void handOver();

  ReflexesSetup setup_;
  ReflexOptions options_;
  EnforcerOptions dry_;
  std::unique_ptr<Sentinel> sentinel_;      // null: its gate is off
  std::unique_ptr<GiveBack> giveBack_;      // null: its gate is off
  std::unique_ptr<GuardianKeeper> keeper_;  // null: nobody guards
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mangrove::agent
