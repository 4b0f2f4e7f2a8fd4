#pragma once
// StatefulSet: pods with names that last (web-0, web-1, …), started and stopped in order, each with
// its own claims. Pure functions, any thread.

#include <string>
#include <vector>

#include "workloads/objects.h"
#include "workloads/plan.h"
#include "workloads/revisions.h"

namespace mangrove::workloads {

// `pods`: the set's own pods.
Plan planStatefulSet(const StatefulSet& set, const Pods& pods, const Revisions& revisions,
                     std::string raw, WallTime now);

// The number at the end of "web-12"; -1 when the name is not one of the set's.
int32_t ordinalOf(std::string_view set, std::string_view pod);

}  // namespace mangrove::workloads
