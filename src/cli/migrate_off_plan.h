#pragma once
// What of ours is left on a cluster when the roles are gone, and the patches that take it away.
//
//   std::string patch = statusLeftovers(node);      // merge patch of nodes/status; "": nothing left
//
// Pure functions.

#include <string>

#include "api/object/lease.h"
#include "base/number/units.h"
#include "json/value.h"

namespace mangrove::cli {

// Amounts for sale in capacity and allocatable, our annotations, and our condition.
std::string statusLeftovers(const json::Value& node);
// Our taints; the others stay. "": there are none.
std::string taintLeftovers(const json::Value& node);
// Somebody still renews it: it is not ours to take.
bool isAlive(const api::Lease& lease, WallTime now);

}  // namespace mangrove::cli
