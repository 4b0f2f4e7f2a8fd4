#pragma once
// One node as NodeNUMAResource sees it: its CPUs and zones from the NodeResourceTopology, what its
// labels and annotations ask for, and who has what. Built anew when node or topology change; what
// pods hold is kept apart, so that nothing is lost when the topology arrives late.
//
// Owner thread only.

#include <map>
#include <memory>
#include <unordered_map>

#include "api/koordinator/node_resource_topology.h"
#include "api/object/node.h"
#include "api/pod/pod.h"
#include "placement/plugins/numa/hints.h"

namespace mangrove::placement {

struct NumaHolding {
  NumaAllocation allocation;
  Exclusive exclusive = Exclusive::kNone;
};
// From resource-status and resource-spec of a pod; nullopt when it holds nothing.
std::optional<NumaHolding> holdingOf(const api::Pod& pod);
std::optional<NumaHolding> holdingIn(const api::Annotations& pod);

class NumaNode {
 public:
  NumaNode() { rebuild(nullptr, nullptr, false); }
  // Either may be null. `mostAllocated` is the strategy unless the node's label has its own.
  void rebuild(const api::Node* node, const api::NodeResourceTopology* topology,
               bool mostAllocated);

  bool hasCpus() const { return layout_->isValid(); }
  const CpuLayout& layout() const { return *layout_; }
  const NumaState& state() const { return *state_; }
  std::vector<int> nodes() const;  // NUMA ids with a zone
  NumaPolicy policy() const { return policy_; }
  api::NodeCpuBindPolicy bindPolicy() const { return bindPolicy_; }
  bool mostAllocated() const { return mostAllocated_; }
  bool distributesEvenly() const { return evenly_; }  // over NUMA nodes, by its label
  double ratio() const { return ratio_; }             // of the node's annotation; 1: none
  bool hasBadRatio() const { return badRatio_; }
  // 1000 · CPUs in cpusets of pods.
  int64_t boundCpu() const { return 1000 * static_cast<int64_t>(state_->books.taken().size()); }
  std::map<int, NumaUse> uses() const;

  void hold(const api::Uid& pod, NumaHolding holding);
  void release(const api::Uid& pod);
  // Of one that is handed over in parts: all of it, and what is left of that in the books.
  void holdWhole(const api::Uid& pod, NumaHolding holding);
  const NumaHolding* whole(const api::Uid& pod) const;
  void keepOfWhole(const api::Uid& pod, NumaHolding left);
  // Out of the books, but not forgotten: trials.
  void suspend(const api::Uid& pod);
  void resume(const api::Uid& pod);
  const NumaHolding* find(const api::Uid& pod) const;
  const std::unordered_map<api::Uid, NumaHolding>& holdings() const { return holdings_; }

 private:
  void book(const NumaHolding& holding, int sign);
  void readZones(const api::Node* node, const api::NodeResourceTopology& topology);
  void readReserved(const api::NodeResourceTopology& topology);

  std::unique_ptr<CpuLayout> layout_;
  std::unique_ptr<NumaState> state_;
  NumaPolicy policy_ = NumaPolicy::kNone;
  api::NodeCpuBindPolicy bindPolicy_ = api::NodeCpuBindPolicy::kNone;
  bool mostAllocated_ = false;
  bool evenly_ = false;
  double ratio_ = 1;
  bool badRatio_ = false;
  std::unordered_map<api::Uid, NumaHolding> holdings_;
  std::unordered_map<api::Uid, NumaHolding> wholes_;
};

}  // namespace mangrove::placement
