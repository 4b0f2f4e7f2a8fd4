#pragma once
// What the ResourceManager's REST pages say and take (Hadoop 3.4).
//
//   GET  /ws/v1/cluster/nodes                              parseNodes
//   POST /ws/v1/cluster/nodes/HOST:PORT/resource           resourcePath, resourceBody
//   GET  /ws/v1/cluster/info                               parseState: who of an HA pair is active
//
// Pure functions, any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "yarn/capacity.h"

namespace mangrove::yarn {

struct RmNode {
  std::string id;     // "host:45454"
  std::string state;  // RUNNING, UNHEALTHY, LOST, DECOMMISSIONED, …
  Capacity total;
  Capacity used;
  bool operator==(const RmNode&) const = default;
};
Result<std::vector<RmNode>> parseNodes(std::string_view text);

// ACTIVE or STANDBY.
Result<std::string> parseState(std::string_view text);

// From the page /cluster/scheduler, the only place that tells: "[memory-mb (unit=Mi), vcores]" with
// DominantResourceCalculator, "[memory-mb (unit=Mi)]" without. nullopt: neither is there.
std::optional<bool> schedulesVcores(std::string_view page);

// Under simple authentication the user in the path is who is checked for being an administrator.
std::string resourcePath(std::string_view nodeId, std::string_view user);
// `overcommit` in milliseconds; nullopt: -1, nobody is ended.
std::string resourceBody(const Capacity& capacity, std::optional<Duration> overcommit);

}  // namespace mangrove::yarn
