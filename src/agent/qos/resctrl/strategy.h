#pragma once
// Shares of the last cache and of memory bandwidth through resctrl: groups LSR, LS and BE for
// classes, koordlet-<uid> for pods with an annotation of their own. Lines: classes.h.

#include "agent/qos/strategy.h"

namespace mangrove::agent {

class Resctrl final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

class PodResctrl final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

}  // namespace mangrove::agent
