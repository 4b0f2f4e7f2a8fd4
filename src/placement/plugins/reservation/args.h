#pragma once
// ReservationArgs.

#include <string>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "base/text/interned.h"
#include "json/value.h"

namespace mangrove::placement {

struct ReservationArgs {
  Duration gcDuration = std::chrono::hours(24);     // ended ones stay so long
  Duration gcInterval = std::chrono::seconds(60);   // and are looked for so often
  bool collects = true;                             // disableGarbageCollection: false
  bool clusterPreAllocation = false;                // preAllocationPolicy.mode Cluster is allowed
  bool prefersFree = false;                         // preferNoPreAllocatedPods
  std::vector<std::string> ignored, ignoredGroups;  // resources that are somebody else's business

  bool isIgnored(std::string_view resource) const;
};
Result<ReservationArgs> readReservationArgs(const json::Value& value);

}  // namespace mangrove::placement
