#pragma once
// Keeps the files of Terway's data plane while the NodeSLO's policy is terway-qos, and removes them
// when it is another. The texts: terway.h.

#include "agent/qos/strategy.h"

namespace mangrove::agent {

class TerwayQos final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

}  // namespace mangrove::agent
