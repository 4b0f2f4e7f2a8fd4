#pragma once
// A reservation that takes running pods over (spec.preAllocation), on one node.
//
//   const Takeover found = takeOver(reservation, cluster, row, args);
//   if (found.verdict.pass) …  found.pods                  // whose room becomes the reservation's
//
// Owner thread only.

#include <string>
#include <vector>

#include "placement/cluster/cluster.h"
#include "placement/plugins/reservation/args.h"
#include "placement/reservation/pre_allocation.h"

namespace mangrove::placement {

struct Takeover {
  PreAllocationVerdict verdict;
  std::vector<PodPtr> pods;  // taken
  int64_t score = 0;         // 0 to 100
};
Takeover takeOver(const api::Reservation& reservation, const Cluster& cluster, Row row,
                  const ReservationArgs& args);

// Why no node can be right; "": one may be.
std::string whyNoTakeover(const api::Reservation& reservation, const ReservationArgs& args);

}  // namespace mangrove::placement
