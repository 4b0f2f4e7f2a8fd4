#pragma once
// `mangrove bench scheduler --case Quota` without a server: what quotas cost a pod that is scheduled,
// while seven of ten pods are blocked by theirs. Two engines, by turns: one with ElasticQuota, the
// quotas and the blocked pods, one with the plugin off and without them.
//
//   auto result = runQuotaCore(*findCase("Quota"), {.nodes = 5000});
//   result->moreMicros                                    // what the plugin costs a pod, by pairs
//
// Blocks; one thread.

#include "scheduler/bench/bench.h"

namespace mangrove::scheduler {

struct BenchCase;

// "raw" is the side without quotas. What a second costs in which nothing happens, with all the
// blocked pods there, is told by idleMicros.
Result<BenchResult> runQuotaCore(const BenchCase& bench, const BenchOptions& options);

}  // namespace mangrove::scheduler
