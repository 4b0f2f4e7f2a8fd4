#pragma once
// What the kernel itself does against micro-bursts, once told: best-effort pods run in the idle
// class. Only where the NodeSLO enables colocation; only pods labelled BE, never the system's own
// BestEffort pods; never the QoS directory, where the kubelet's writes would then fail.

#include "agent/qos/strategy.h"

namespace mangrove::agent {

class KernelFloor final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

}  // namespace mangrove::agent
