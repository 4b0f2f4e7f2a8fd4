#pragma once
// The manager's part of one simulated node: planNode over what the agent reports, and a new Node
// object when the manager would write one. One owner.
//
//   Seller seller(policy, node);
//   if (seller.sell(now, pods, metric)) engine.nodeChanged(before, seller.node());

#include <memory>
#include <optional>
#include <span>

#include "manager/controllers/noderesource/plan.h"
#include "sim/policy.h"

namespace mangrove::sim {

class Seller {
 public:
  using NodePtr = std::shared_ptr<const api::Node>;
  Seller(const Policy& policy, NodePtr node) : policy_(policy), node_(std::move(node)) {}

  // True when the node changed.
  bool sell(WallTime now, std::span<const manager::PodFacts* const> pods,
            const manager::MetricFacts& metric);
  const NodePtr& node() const { return node_; }
  MilliCpu batchCpu() const;  // for sale now
  MilliCpu midCpu() const;

 private:
  const Policy& policy_;
  NodePtr node_;
  manager::NodeMemory memory_;
  std::optional<WallTime> written_;
};

}  // namespace mangrove::sim
