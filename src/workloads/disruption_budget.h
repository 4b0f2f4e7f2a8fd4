#pragma once
// PodDisruptionBudget: how many of the selected pods may be evicted now. The eviction API reads the
// answer from the status, which this keeps true. Pure functions, any thread.

#include <string>

#include "api/object/core_objects.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

// `pods`: the pods of the namespace that the budget selects. `expected`: how many there should be,
// by the scale of their controllers; for pods without one, themselves.
Plan planBudget(const api::PodDisruptionBudget& budget, const Pods& pods, int32_t expected,
                std::string raw, WallTime now);

}  // namespace mangrove::workloads
