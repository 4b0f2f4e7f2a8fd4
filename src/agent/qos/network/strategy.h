#pragma once
// Network classes by NodeSLO: services before batch work on the way out of this machine. Only where
// the link's speed is said (systemStrategy.totalNetworkBandwidth) and the policy is tc. The plan:
// plan.h.

#include <memory>

#include "agent/qos/strategy.h"

namespace mangrove::agent {

struct InterferenceBoard;

class NetworkQos final : public Strategy {
 public:
  // `board`: whether the ladder against interference holds batch work back; null: nobody asks.
  explicit NetworkQos(std::shared_ptr<InterferenceBoard> board = nullptr)
      : board_(std::move(board)) {}
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;

 private:
  std::shared_ptr<InterferenceBoard> board_;
};

}  // namespace mangrove::agent
