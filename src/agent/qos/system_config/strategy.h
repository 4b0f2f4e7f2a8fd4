#pragma once
// Kernel parameters of the NodeSLO's systemStrategy; what it does not name is left alone, and what
// it named gets its old value back. Values: files.h.

#include "agent/qos/strategy.h"

namespace mangrove::agent {

class SystemConfig final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

}  // namespace mangrove::agent
