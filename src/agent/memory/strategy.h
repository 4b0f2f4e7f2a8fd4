#pragma once
// The give-back ladder as a strategy: tells its thread at every tick which best-effort pods there
// are and what this kernel offers, and wants of the executor the limits it put in force. Remembers
// who is frozen, so that a successor can thaw them.

#include "agent/memory/give_back.h"
#include "agent/qos/strategy.h"

namespace mangrove::agent {

class MemoryGiveBack final : public Strategy {
 public:
  MemoryGiveBack(GiveBack& giveBack, bool dryRun) : giveBack_(giveBack), dryRun_(dryRun) {}
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
  json::Value state() const override;
  void restore(const json::Value& state) override;

 private:
  GiveBack& giveBack_;
  bool dryRun_;
};

GiveBackOrders giveBackOrders(const Situation& now);
// The cgroups a dead agent left frozen, from the state of this strategy.
std::vector<std::string> frozenOf(const json::Value& state);

}  // namespace mangrove::agent
