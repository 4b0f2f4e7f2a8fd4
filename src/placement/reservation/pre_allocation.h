#pragma once
// A reservation that takes running pods over: which ones may be taken, in which order, and which
// are taken on one node.
//
//   auto list = clusterCandidates(podsOfTheNode);             // or ownCandidates(…)
//   PreAllocationVerdict verdict = preAllocate(node, ask, amounts of list.pods);
//
// The room of a pod that is taken over becomes room of the reservation, so on the node
//
//   reservation ≤ allocatable − (requested − taken − preemptible)
//
// and inside the reservation, which is always Restricted, what is taken must fit too. Worked: a
// reservation of 6 with 1 free and candidates 2, 3, 4 in this order: 2 and 3 are taken (1 + 5 ≥ 6);
// the 4 would have overflowed it.
//
// Pure functions, any thread.

#include <span>
#include <string>
#include <vector>

#include "placement/reservation/fit.h"
#include "placement/reservation/match.h"

namespace mangrove::placement {

struct CandidateList {
  std::vector<const api::Pod*> pods;  // the first is preferred
  std::vector<std::string> troubles;  // sentences about annotations that could not be read
};

// Mode Cluster: every pod that says it may be taken over (label is-pre-allocatable) and that no
// reservation has yet, by its priority for this, the highest first, then by uid. A priority that is
// no number counts as 0 and is named in `troubles`.
CandidateList clusterCandidates(std::span<const api::Pod* const> pods);

// Mode Default: the pods that the owners' label selectors select, that the reservation would serve
// and that no reservation has yet, the best filling first, then by uid. A pod whose annotations
// cannot be read is left alone and named in `troubles`.
CandidateList ownCandidates(std::span<const api::Pod* const> pods, const ReservationOffer& offer,
                            const api::Labels& node);

struct PreAllocationAsk {
  Amounts request;            // of the reservation
  bool mustTake = false;      // label pre-allocation-required: free room alone will not do
  bool prefersFree = false;   // look for free room first
  bool takesSeveral = false;  // preAllocationPolicy.enableMultiple
};

struct PreAllocationVerdict {
  bool pass = false;
  std::vector<size_t> taken;         // of the candidates, in their order; none: free room suffices
  std::vector<std::string> reasons;  // when refused, sorted
};

// `candidates`: requests in the order of preference, all counted in node.requested. When one is
// enough the one that fills the reservation best is taken, the first of equals.
PreAllocationVerdict preAllocate(const NodeRoom& node, const PreAllocationAsk& ask,
                                 std::span<const Amounts> candidates);

// 0 to 100 for the node: how well the one pod fills the reservation, or with several the fewer the
// better (100 / (1 + taken)).
int64_t scoreOf(const PreAllocationVerdict& verdict, const PreAllocationAsk& ask,
                std::span<const Amounts> candidates);

}  // namespace mangrove::placement
