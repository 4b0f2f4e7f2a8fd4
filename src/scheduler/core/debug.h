#pragma once
// What --debug-scores and --debug-diagnosis print about one decision. Owner thread only.

#include <string>
#include <string_view>

#include "scheduler/core/cycle.h"

namespace mangrove::scheduler {

// The best `top` feasible nodes with every plugin's weighted score, as a Markdown table.
std::string scoreTable(Cycle& cycle, Cluster& cluster, size_t top);
// One line of JSON: who refused how many nodes, and whether preemption might help.
std::string diagnosisLine(const Diagnosis& diagnosis, std::string_view pod, WallTime now);

}  // namespace mangrove::scheduler
