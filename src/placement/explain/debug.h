#pragma once
// What --debug-scores and --debug-diagnosis print about one decision. Owner thread only.

#include <string>
#include <string_view>

#include "placement/cycle/cycle.h"

namespace mangrove::placement {

// The best `top` feasible nodes with every plugin's weighted score, as a Markdown table.
std::string scoreTable(Cycle& cycle, Cluster& cluster, size_t top);
// One line of JSON in the reference's form: who refused which nodes and why, and whether preemption
// might help. After a cycle that found no node.
std::string diagnosisLine(Cycle& cycle, Cluster& cluster, const api::Pod& pod, WallTime now);

}  // namespace mangrove::placement
