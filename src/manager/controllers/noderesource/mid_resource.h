#pragma once
// How much of a node can be sold to mid-priority work: what the prediction says services will not
// need again, plus a share of what nobody asked for.
//
//   mid = min(max(min(prod reclaimable, unused), 0) + unallocated × midUnallocatedPercent,
//             capacity × midThresholdPercent)
//   worked: reclaimable 15 cores, unallocated 80 × 10 %, threshold 10 % of 100 → min(23, 10) = 10
//
// Pure; any thread.

#include <string>

#include "manager/controllers/noderesource/node_inputs.h"

namespace mangrove::manager {

struct MidTerms {
  bool isStatic = false;
  CpuMemory capacity;
  CpuMemory reclaimable;  // predicted
  CpuMemory unused;       // capacity − node usage
  CpuMemory unallocated;  // capacity − reserved − requests of services
  CpuMemory fromUnallocated;
  CpuMemory cap;  // thresholds
};

struct MidResult {
  bool reset = false;
  std::string because;
  MidTerms terms;
  int64_t milliCpu = 0;
  int64_t memoryBytes = 0;
};
MidResult midResource(const NodeInputs& in);

}  // namespace mangrove::manager
