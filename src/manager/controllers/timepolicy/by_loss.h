#pragma once
// Who goes when a stricter time begins, by the project's one order of victims (victims/order.h): class
// and priority first, then those whose leaving throws the least work away. Gate LeastLossEvict;
// without it those go first that would run longest (leaving.h).
//
//   for (const LossLeaver& one : leaversByLoss(pods, allowed, tally, now)) evict(pods[one.pod], one.loss);
//
// Pure; any thread.

#include <span>
#include <string>
#include <vector>

#include "api/pod/pod.h"
#include "manager/controllers/noderesource/cpu_memory.h"
#include "stakes/tally.h"

namespace mangrove::manager {

struct LossLeaver {
  size_t pod = 0;    // index
  std::string loss;  // what is lost, and what the next one would have lost
};
// `pods`: all that hold sold resources on the node. As many as must go until the rest fits.
std::vector<LossLeaver> leaversByLoss(std::span<const api::Pod> pods, const CpuMemory& allowed,
                                      const stakes::EvictionTally& tally, WallTime now);

// The pods of a list's answer that hold something on the node.
Result<std::vector<api::Pod>> holdersIn(std::string_view list, std::string_view node);

}  // namespace mangrove::manager
