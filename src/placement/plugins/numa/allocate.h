#pragma once
// Amounts and CPUs per NUMA node: what is left, how a pod's request is split over the NUMA nodes it
// may use, and which CPUs it gets there.
//
//   Result<NumaAllocation> got = allocate(state, request, maskOf({0, 1}));
//   // n = 8 CPUs, 3500m and 8 left: 3500m + 5 would be needed, refused "Insufficient NUMA cpu"
//
// Amounts: cpu in milli-cores, everything else in whole units. Pure functions, any thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/number/cpu_set.h"
#include "base/result.h"
#include "placement/plugins/numa/accumulator.h"

namespace mangrove::placement {

using NumaAmounts = std::map<std::string, int64_t>;
using NumaMask = uint64_t;  // bit i: NUMA node i

inline constexpr std::string_view kNumaCpu = "cpu";

struct NumaState {
  explicit NumaState(const CpuLayout& layout, int maxRefCount = 1) : books(layout, maxRefCount) {}

  std::map<int, NumaAmounts> zones;   // allocatable per NUMA node, amplified
  std::map<int, NumaAmounts> booked;  // given out, as pods asked for it
  CpuBooks books;
  CpuSet reserved;
  double cpuRatio = 1;  // of amplification
};

struct NumaRequest {
  NumaAmounts amounts;  // un-amplified totals of the pod
  bool binds = false;   // gets a cpuset of wish.need CPUs
  CpuWish wish;
};

struct NumaAllocation {
  std::map<int, NumaAmounts> perNode;
  CpuSet cpus;
  bool operator==(const NumaAllocation&) const = default;
};

// Reasons instead of an allocation.
struct NumaOutcome {
  NumaAllocation allocation;
  std::vector<std::string> reasons;   // empty: allocated
  std::optional<NumaMask> mask = {};  // the NUMA nodes it was limited to
  bool ok() const { return reasons.empty(); }
};

// ceil(v · ratio) for ratios above 1.
int64_t amplified(int64_t amount, double ratio);
// CPUs given out on that NUMA node, times 1000.
int64_t boundCpu(const NumaState& state, int node);
// What is left there for this request, never below 0; cut to the CPUs a required policy can use.
NumaAmounts availableOn(const NumaState& state, const NumaRequest& request, int node);
NumaOutcome allocate(const NumaState& state, const NumaRequest& request, NumaMask mask);

NumaMask maskOf(const std::vector<int>& nodes);
std::vector<int> nodesIn(NumaMask mask);

}  // namespace mangrove::placement
