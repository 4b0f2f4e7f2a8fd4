#pragma once
// Batch resources in the zones of a NodeResourceTopology. Capacity,
// allocatable and available are judged one by one: each changes only when it differs by more than
// the threshold.
//
//   std::vector<api::Zone> zones = topology.zones;
//   if (updateZones(zones, {{"node-0", 12000, memory}}, 0.1, ratio)) write(zones);
//
// Pure; any thread.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/koordinator/node_resource_topology.h"

namespace mangrove::manager {

struct ZoneAmount {
  std::string zone;
  int64_t milliCpu = 0;
  Quantity memory;
};

// The rule by which a value is worth writing: presence differs, or |new − old| > old × threshold on
// thousandths (any change when old is 0).
bool differs(const Quantity* before, const Quantity* after, double threshold);

// True when something changed. Zones without an amount stay as they are. With `dropsAtOnce` a fall
// is worth writing however small.
bool updateZones(std::vector<api::Zone>& zones, std::span<const ZoneAmount> amounts,
                 double threshold, const std::optional<double>& ratio, bool dropsAtOnce = false);

}  // namespace mangrove::manager
