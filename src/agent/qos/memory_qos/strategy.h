#pragma once
// Memory protection of classes, pods and containers, where the kernel has the files. The values:
// values.h.

#include "agent/qos/strategy.h"

namespace mangrove::agent {

class MemoryQos final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

}  // namespace mangrove::agent
