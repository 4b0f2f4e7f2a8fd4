#pragma once
// The give-back ladder as a strategy: tells its thread at every tick which best-effort pods there
// are and what this kernel offers, and wants of the executor the limits it put in force. Remembers
// who is frozen, so that a successor can thaw them.

#include "agent/memory/give_back.h"
#include "agent/qos/evict/lately.h"
#include "agent/qos/strategy.h"

namespace mangrove::agent {

class MemoryGiveBack final : public Strategy {
 public:
  MemoryGiveBack(GiveBack& giveBack, std::shared_ptr<const EvictedLately> lately, bool dryRun)
      : giveBack_(giveBack), lately_(std::move(lately)), dryRun_(dryRun) {}
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
  json::Value state() const override;
  void restore(const json::Value& state) override;

 private:
  GiveBack& giveBack_;
  std::shared_ptr<const EvictedLately> lately_;
  bool dryRun_;
};

// Best-effort pods are those that say so: what merely has no requests (kube-proxy) or is not known
// yet is nobody to take memory from.
GiveBackOrders giveBackOrders(const Situation& now, const EvictedLately& lately);
// The cgroups a dead agent left frozen, from the state of this strategy.
std::vector<std::string> frozenOf(const json::Value& state);

}  // namespace mangrove::agent
