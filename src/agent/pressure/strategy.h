#pragma once
// The fast path as a strategy: tells the sentinel at every tick what to watch, and wants of the
// executor what the sentinel found: a cap on the quota of best-effort work. The cut itself was
// written by the sentinel long before; the executor does the growing.

#include "agent/pressure/sentinel.h"
#include "agent/qos/strategy.h"

namespace mangrove::agent {

struct PressureOptions {
  bool dryRun = false;
  // While services do not wait and the kernel's idle class holds best-effort work, there is no quota
  // at all, unless a threshold below 90 % asks for idle CPUs; suppression counts from the first cut
  // until the cap is gone again.
  bool only = false;
  bool triggers = true;  // the sentinel may sleep on the kernel's, where it grants them
};

class PressureCut final : public Strategy {
 public:
  PressureCut(Sentinel& sentinel, PressureOptions options)
      : sentinel_(sentinel), options_(options) {}
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;

 private:
  Sentinel& sentinel_;
  PressureOptions options_;
};

// The files of the best-effort group alone.
SentinelOrders sentinelFiles(const Machine& machine);
// What the sentinel is to watch: every pod and host application that is a service, and the groups of
// the system, where work outside of pods is.
SentinelOrders sentinelOrders(const Situation& now);

}  // namespace mangrove::agent
