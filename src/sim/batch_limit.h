#pragma once
// The agent's suppression of one simulated node: how much CPU best-effort work may have, second by
// second, by the very functions the agent calls (agent/qos/cpu_suppress).
//
//   BatchLimit limit(threshold, 32, Stepping::kAdaptive);
//   limit.over(from, 60, budget)                    // cores in the mean of those seconds
//
// Within a step the budget stands still. Once the limit does too and the budget is not worth growing
// for, no further second changes anything: adaptive stepping leaves those seconds out, but for the
// last one, which tells the long-run average what the budget was. One owner.

#include "agent/qos/cpu_suppress/damper.h"
#include "api/koordinator/slo_strategy.h"
#include "sim/trace.h"

namespace mangrove::sim {

enum class Stepping : uint8_t { kExact, kAdaptive };

class BatchLimit {
 public:
  BatchLimit(const api::ResourceThresholdStrategy& strategy, int64_t cores, Stepping stepping)
      : isOn_(strategy.enable.value_or(false)),
        byQuota_(strategy.cpuSuppressPolicy == "cfsQuota"),
        cores_(cores),
        stepping_(stepping) {}

  double over(Seconds from, Seconds length, MilliCpu budget);
  double cores() const;  // now
  uint64_t ticks() const { return ticks_; }

 private:
  void tick(Seconds at, MilliCpu budget);
  bool isSettled(double before, MilliCpu budget) const;

  bool isOn_, byQuota_;
  int64_t cores_;
  Stepping stepping_;
  agent::SuppressPace pace_;
  kernel::CpuQuota quota_ = kernel::CpuQuota::none();
  size_t count_ = 0;  // of CPUs; 0: all
  uint64_t ticks_ = 0;
};

}  // namespace mangrove::sim
