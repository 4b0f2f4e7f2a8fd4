#pragma once
// NUMA topology: which sets of NUMA nodes could take a pod (hints), and which one all providers
// agree on under a policy.
//
//   HintMap hints = numaHints(state, request, NumaPolicy::kRestricted, scorer);
//   Admission verdict = mergeHints(NumaPolicy::kSingleNumaNode, {0, 1}, {hints}, {});
//
// Pure functions, any thread.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/annotations/topology.h"
#include "placement/plugins/numa/allocate.h"

namespace mangrove::placement {

using NumaPolicy = api::NumaTopologyPolicy;

struct NumaHint {
  std::optional<NumaMask> mask;  // nullopt: any
  bool preferred = false;
  int64_t score = 0;
  bool unsatisfied = false;
};
// By resource; nullopt: no preference for it; empty: nowhere.
using HintMap = std::map<std::string, std::optional<std::vector<NumaHint>>>;

// Score of a set of NUMA nodes: what would be requested of what there is, by resource.
struct NumaScorer {
  bool enabled = false;
  bool mostAllocated = false;
  std::vector<std::pair<std::string, int64_t>> weights;  // empty: cpu and memory, 1 each

  int64_t score(const NumaAmounts& requested, const NumaAmounts& total,
                const NumaAmounts& pod) const;
};

HintMap numaHints(const NumaState& state, const NumaRequest& request, NumaPolicy policy,
                  const NumaScorer& scorer);

// What runs on a NUMA node, of pods with cpusets.
enum class NumaUse : uint8_t { kIdle, kSingle, kShared };

struct Exclusivity {
  bool required = false;  // singleNUMANodeExclusive: Required
  std::map<int, NumaUse> uses;
};

struct Admission {
  bool admitted = false;
  NumaHint best;
  std::vector<std::string> reasons;
};
Admission mergeHints(NumaPolicy policy, const std::vector<int>& nodes,
                     const std::vector<HintMap>& providers, const Exclusivity& exclusivity);

// All non-empty sets of these nodes, smaller ones first, each size in lexicographic order.
std::vector<NumaMask> numaSubsets(const std::vector<int>& nodes);

std::string maskText(NumaMask mask);  // binary, at least two digits

}  // namespace mangrove::placement
