#pragma once
// How much of a node can be sold to batch work.
//
//   byUsage   = max(capacity − margin − max(system, reserved) − high-priority usage, 0)
//   byRequest = max(capacity − margin − reserved − high-priority requests, 0)        memory only
//   byMax     = max(capacity − margin − max(system, reserved) − Σ max(request, usage), 0)
//   worked: 100 cores, threshold 65 %: margin 35; system 7, services use 33 → 25 cores for sale
//
// Pure; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "manager/controllers/noderesource/node_inputs.h"

namespace mangrove::manager {

enum class ReclaimPolicy { kUsage, kRequest, kMaxUsageRequest };
ReclaimPolicy reclaimPolicyOf(const std::optional<std::string>& word);  // unknown: kUsage
std::string_view reclaimPolicyName(ReclaimPolicy policy);

// The terms of the formula, for the whole node or one zone.
struct BatchTerms {
  CpuMemory capacity;
  CpuMemory margin;  // negative when the threshold is above 100 %
  CpuMemory system;  // system usage and host applications of mid priority and above
  CpuMemory reserved;
  CpuMemory highUsed;
  CpuMemory highRequest;
  CpuMemory highMax;
};

struct BatchPolicies {
  ReclaimPolicy cpu = ReclaimPolicy::kUsage;  // kRequest is not meant for cpu and acts as kUsage
  ReclaimPolicy memory = ReclaimPolicy::kUsage;
  std::optional<Percent> cpuThreshold;  // caps in percent of the capacity
  std::optional<Percent> memoryThreshold;
};
BatchPolicies batchPolicies(const Colocation& strategy);

// Cores and bytes for sale; never negative.
CpuMemory batchAllowance(const BatchTerms& terms, const BatchPolicies& policies);

struct ZoneBatch {
  std::string zone;
  BatchTerms terms;
  int64_t milliCpu = 0;
  Quantity memory;  // may hold thousandths
};

struct BatchResult {
  bool reset = false;   // nothing may be sold: both names are removed from the node
  std::string because;  // why reset
  BatchTerms terms;
  BatchPolicies policies;
  int64_t milliCpu = 0;
  int64_t memoryBytes = 0;
  std::vector<ZoneBatch> zones;  // empty without a usable topology
};
BatchResult batchResource(const NodeInputs& in);

}  // namespace mangrove::manager
