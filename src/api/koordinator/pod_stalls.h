#pragma once
// How much a pod waits, as our agents add it to its entry in the NodeMetric (`extensions`, which
// others leave alone):
//
//   "extensions":{"Object":{"colocation.mangrove.io/stalls":{"cpu":12,"throttled":3}}}
//
// Percent, rounded: of the last minute in which some task waited for a CPU; of the periods of its
// quota in which it ran out. Only where the agent measures pressure (gate PSICollector). Pure, any
// thread.

#include <optional>
#include <string_view>

#include "api/koordinator/node_metric.h"

namespace mangrove::api {

inline constexpr std::string_view kStalls = "colocation.mangrove.io/stalls";

struct PodStalls {
  double cpu = 0;
  double throttled = 0;
  bool operator==(const PodStalls&) const = default;
};

Extensions extensionsOf(const PodStalls& stalls);
// nullopt: nobody has measured it, or what stands there is none of ours.
std::optional<PodStalls> stallsOf(const PodMetric& pod);

}  // namespace mangrove::api
