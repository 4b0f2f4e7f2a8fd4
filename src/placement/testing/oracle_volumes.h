#pragma once
// The volume plugins written down as plainly as possible. Test code.

#include "placement/testing/oracle_world.h"

namespace mangrove::placement::oracle {

// "" when the pod's volumes allow the place.
std::string volumeRefusal(const World& world, const api::Pod& pod, const World::Place& place);

}  // namespace mangrove::placement::oracle
