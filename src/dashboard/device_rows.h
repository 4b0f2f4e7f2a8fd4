#pragma once
// Cards as the devices page shows them: every node that reports some, each card with who has which
// share, how it is, and what was measured of it.
//
//   {"nodes":[{"name":"n1","model":"H200","cards":[{"type":"gpu","minor":0,"id":"GPU-…",
//     "health":"healthy","why":"","used":50,"total":100,"memoryUsed":…,"memoryTotal":…,"numa":0,
//     "pcie":"pci0000:5d","busy":12,"celsius":54,"holders":[{"pod":"default/a","share":50}],
//     "over":""}]}]}
//
// "used" and "total" in percent of a card; null where nothing is known. Pure functions, any thread.

#include <memory>
#include <vector>

#include "api/koordinator/device.h"
#include "dashboard/rows.h"
#include "json/value.h"

namespace mangrove::dashboard {

using DeviceObjects = std::vector<std::shared_ptr<const api::Device>>;

json::Object deviceBoard(const ClusterView& view, const DeviceObjects& devices);

}  // namespace mangrove::dashboard
