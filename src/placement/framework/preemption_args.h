#pragma once
// DefaultPreemptionArgs: how many candidate nodes a preemption tries out before it chooses.
//
//   auto args = readPreemptionArgs(value);
//   candidatesWanted(5000, *args)            // 500
//
// Pure functions, any thread.

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "json/value.h"

namespace mangrove::placement {

struct PreemptionArgs {
  int64_t minCandidatesPercentage = 10;
  int64_t minCandidatesAbsolute = 100;
};

Result<PreemptionArgs> readPreemptionArgs(const json::Value& value);
// Of `nodes` where evicting may help: the larger of the two limits, at most all.
size_t candidatesWanted(size_t nodes, const PreemptionArgs& args);

}  // namespace mangrove::placement
