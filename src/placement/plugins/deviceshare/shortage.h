#pragma once
// Why one node has not the cards a pod wants, card by card, for people:
//
//   "gpu: needs 4 with gpu-core=100, gpu-memory-ratio=100 each on one switch; 5 of 8 have room, at
//    most 2 of them on one switch; 3 unhealthy"
//
// Pure functions, any thread.

#include <string>

#include "placement/device/allocate.h"

namespace mangrove::placement {

std::string shortageText(const DeviceWish& wish, const NodeDevices& node);

}  // namespace mangrove::placement
