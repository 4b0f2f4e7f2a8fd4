#pragma once
// Disruption budgets as a preemption sees them.
//
//   const Budgets budgets(cluster);
//   for (const PodPtr& pod : budgets.split(pods).violating) …      // try to spare these first
//
// A picture of the moment it is made. Owner thread only.

#include <vector>

#include "api/select/label_selector.h"
#include "placement/cluster/cluster.h"

namespace mangrove::placement {

// Selectors are compiled once for a whole search.
class Budgets {
 public:
  explicit Budgets(const Cluster& cluster);

  // Those whose going would break a budget, walking in the order of importance.
  struct Split {
    std::vector<PodPtr> violating, other;
  };
  Split split(const std::vector<PodPtr>& pods) const;

 private:
  struct Budget {
    const api::PodDisruptionBudget* object;
    api::Selector selector;
  };
  static bool guards(const Budget& budget, const api::Pod& pod);
  std::vector<Budget> all_;
};

}  // namespace mangrove::placement
