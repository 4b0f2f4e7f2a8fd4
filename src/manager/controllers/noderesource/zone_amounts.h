#pragma once
// What each NUMA zone sells when the node sells something else than the formula gave (time windows,
// steadying, a pause): the ledger is shared as the formula shares the node, and by the zones'
// capacities where the formula has nothing to give.
//
//   // formula 20 cores = 8 + 12; the hour allows 10 → zones 4 and 6
//   plan.zones = zoneAmounts(plan.batch, plan.ledger);
//
// Pure; any thread.

#include <vector>

#include "manager/controllers/noderesource/alias_views.h"
#include "manager/controllers/noderesource/batch_resource.h"
#include "manager/controllers/noderesource/zone_update.h"

namespace mangrove::manager {

// As the formula says where the ledger is the formula's amount. No zone gets more than the ledger,
// nor more than it has or the formula gave it.
std::vector<ZoneAmount> zoneAmounts(const BatchResult& batch, const Sold& ledger);

}  // namespace mangrove::manager
