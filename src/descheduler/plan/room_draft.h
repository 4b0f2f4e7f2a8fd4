#pragma once
// Which pods would have to leave a node for another to fit there, by requests alone: the fewest, and
// of those the ones that lose least. What it says is a draft; the scheduler's rules confirm it.
//
//   for (const RoomDraft& draft : draftRoom(nodes, needs, budget)) …   the best node first
//
// Pure functions, any thread.

#include <cstddef>
#include <span>
#include <vector>

#include "descheduler/plan/minimal.h"

namespace mangrove::descheduler {

struct RoomNode {
  Loads free;                    // may be below zero
  std::vector<MovablePod> pods;  // that may leave
};
struct RoomDraft {
  size_t node = 0;
  std::vector<size_t> pods;  // of the node
};

// Nodes where nobody has to leave, and those where more than `budget` would, are left out.
std::vector<RoomDraft> draftRoom(std::span<const RoomNode> nodes, const Loads& needs,
                                 size_t budget);

}  // namespace mangrove::descheduler
