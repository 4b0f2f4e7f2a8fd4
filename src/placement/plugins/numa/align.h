#pragma once
// How other plugins take part in the choice of NUMA nodes, so that CPUs, memory and cards of a pod
// meet where the node's or the pod's policy asks for it. NodeNUMAResource asks every source of the
// profile (Plugin::numaHintSource) and merges their hints with its own; what was chosen for a pod
// is told to whoever reserves after it (Plugin::numaChoices).
//
// Owner thread only.

#include <optional>
#include <vector>

#include "placement/framework/plan.h"
#include "placement/framework/verdict.h"
#include "placement/plugins/numa/hints.h"

namespace mangrove::placement {

class NumaHintSource {
 public:
  // Which sets of these NUMA nodes could serve its part of the pod; empty: it does not mind.
  virtual HintMap numaHints(const PodPlan& plan, Row row, const std::vector<int>& nodes) const = 0;

 protected:
  ~NumaHintSource() = default;
};

class NumaChoices {
 public:
  // The NUMA nodes of a pod that was reserved; nullopt: no policy, or anywhere on the node.
  virtual std::optional<NumaMask> chosen(const api::Uid& pod) const = 0;

 protected:
  ~NumaChoices() = default;
};

}  // namespace mangrove::placement
