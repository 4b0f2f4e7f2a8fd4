#pragma once
// Network classes by NodeSLO: services before batch work on the way out of this machine. Only where
// the link's speed is said (systemStrategy.totalNetworkBandwidth) and the policy is tc. The plan:
// plan.h.

#include "agent/qos/strategy.h"

namespace mangrove::agent {

class NetworkQos final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

}  // namespace mangrove::agent
