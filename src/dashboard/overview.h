#pragma once
// The first look: sums over all nodes as they were moment by moment, the pods that wait and why,
// those that use most, and rows of nodes with what an agent in this process saw since the report.
// Pure functions, any thread.

#include "dashboard/rows.h"

namespace mangrove::dashboard {

// {"t":…,"nodes":3,"capacity":48,"used":20.5,"be":8,"sold":16,"asked":9,"memory":…,"memoryUsed":…}
json::Object momentOf(const json::Array& nodeRows, WallTime at);

// {"waits":61,"waiting":[rows, the longest wait first, 50 at most],"top":[rows by CPU, 10 at most]}
json::Object overviewOf(const ClusterView& view, const LiveNode* live);

// The row of `node` shows `tick` (tickOf) instead of its last report, so that everybody who looks
// at the same moment sees the same sums.
void showTick(json::Array& nodeRows, std::string_view node, const json::Object& tick);

}  // namespace mangrove::dashboard
