#pragma once
// MakeRoom's goal of empty nodes: as many as `emptyNodes` says should have no pods besides those that
// belong to them (DaemonSets', mirrors, static ones). Nodes are emptied whole or not at all, those
// with the fewest pods first, onto nodes that are in use already, within the budget.
//
//   emptyNodes(args, round);
//
// Cordoned nodes are neither counted nor emptied. Owner's thread, within a cycle that proves moves.

#include "descheduler/plugins/make_room.h"

namespace mangrove::descheduler {

void emptyNodes(const MakeRoomArgs& args, Round& round);

}  // namespace mangrove::descheduler
