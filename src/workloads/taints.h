#pragma once
// Who must leave a node because of its NoExecute taints, and when: at once without a toleration, after
// the shortest of the tolerations otherwise. Pure functions, any thread.

#include <map>
#include <string>

#include "api/object/node.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

// Since when pods are under taints they endure for a while; by uid. Those that no longer are leave.
using TaintedSince = std::map<std::string, WallTime>;

// `pods`: all of the node.
Plan planTaints(const api::Node& node, const Pods& pods, TaintedSince& since, WallTime now);

bool drivesPodsAway(const api::Node& node);

}  // namespace mangrove::workloads
