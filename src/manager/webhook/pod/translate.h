#pragma once
// From native cpu and memory to what a band is sold: batch-cpu, batch-memory, mid-cpu, mid-memory.
//
//   translateResources(podSpec, PriorityBand::kBatch);
//   // requests {cpu: 1500m, memory: 2Gi} → {batch-cpu: 1500, batch-memory: 2Gi}
//
// Works on decoded objects (every amount is a quantity). One thread at a time per value.

#include <string_view>

#include "api/pod/classes.h"
#include "json/value.h"

namespace mangrove::manager {

struct ResourceNamesOfBand {
  std::string_view cpu, memory;
};
// Both "" for bands that keep cpu and memory, or have no amounts at all (free).
ResourceNamesOfBand boughtNames(api::PriorityBand band);

// cpu and memory of one list under other names; cpu in thousandths of a core. False: had neither.
bool translateList(json::Object& list, const ResourceNamesOfBand& names);

// All containers, init containers, the overhead, and what the pod sets as a whole. A limit without
// a request becomes the request. False: nothing to translate.
bool translateResources(json::Object& podSpec, api::PriorityBand band);

// spec.resources names amounts for the pod as a whole, and API servers accept native names only
// there: what no container claims of it moves to the first container, before translation.
void movePodResourcesDown(json::Object& podSpec);

}  // namespace mangrove::manager
