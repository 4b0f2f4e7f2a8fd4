#pragma once
// The fast path as a strategy: tells the sentinel at every tick what to watch, and wants of the
// executor what the sentinel found: a cap on the quota of best-effort work. The cut itself was
// written by the sentinel long before; the executor does the growing.

#include "agent/pressure/sentinel.h"
#include "agent/qos/strategy.h"

namespace mangrove::agent {

class PressureCut final : public Strategy {
 public:
  // `only`: while services do not wait and the kernel's idle class holds best-effort work, there is
  // no quota at all, unless a threshold below 90 % asks for idle CPUs; suppression counts from the
  // first cut until the cap is gone again.
  PressureCut(Sentinel& sentinel, bool dryRun, bool only = false)
      : sentinel_(sentinel), dryRun_(dryRun), only_(only) {}
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;

 private:
  Sentinel& sentinel_;
  bool dryRun_;
  bool only_;
};

// The files of the best-effort group alone.
SentinelOrders sentinelFiles(const Machine& machine);
// What the sentinel is to watch: every pod and host application that is a service, and the groups of
// the system, where work outside of pods is.
SentinelOrders sentinelOrders(const Situation& now);

}  // namespace mangrove::agent
