#pragma once
// What `mangrove bench manager` sends: nodes' reports, writes of the manager's size, and their undoing;
// and what a node should sell in the end. Pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/number/units.h"
#include "client/api_client.h"
#include "json/value.h"

namespace mangrove::cli {

// The colocation-config under which the manager is measured.
inline constexpr std::string_view kBenchConfig =
    R"({"enable":true,"cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65})";

client::Request create(client::Kind kind, std::string ns, const json::Value& body);
client::Request reportMetric(int64_t index, int64_t pods, WallTime now);
client::Request createMetric(int64_t index);
// The same size and kind as the manager's write, on names that are not its own.
client::Request rawPatch(int64_t index);
client::Request undoRawPatch(int64_t index);
// What the next manager finds is what the first one found, but for the NodeSLOs.
client::Request undoManager(int64_t index);
// What the formula gives for the bench's node and report.
int64_t expectedMilli(int64_t index, int64_t pods);

}  // namespace mangrove::cli
