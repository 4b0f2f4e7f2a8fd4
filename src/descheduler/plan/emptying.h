#pragma once
// Which nodes to empty first: the fewest moves, and of as many those that lose least.
//
//   for (size_t node : emptyingOrder(nodes, budget)) …
//
// Pure function, any thread.

#include <cstddef>
#include <span>
#include <vector>

#include "descheduler/plan/movable.h"

namespace mangrove::descheduler {

// `nodes`: for each what would have to leave it. Nodes that nobody has to leave, and those that more
// than `budget` would, are left out.
std::vector<size_t> emptyingOrder(std::span<const std::vector<MovablePod>> nodes, size_t budget);

}  // namespace mangrove::descheduler
