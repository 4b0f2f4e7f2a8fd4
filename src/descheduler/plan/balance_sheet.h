#pragma once
// Each node before and after the moves of a plan, by what was measured last.
//
//   for (const NodeBalance& node : balanceOf(look, journal.moves())) …
//
// Pure function, any thread.

#include <span>
#include <string>
#include <vector>

#include "descheduler/evictor/journal.h"
#include "descheduler/look.h"

namespace mangrove::descheduler {

struct NodeBalance {
  struct Load {
    double cpu = 0;     // percent of what the node has
    double memory = 0;  // percent
    int64_t pods = 0;
  };
  std::string node;
  bool measured = false;  // else only pods are known
  Load before, after;
};

// The nodes that a move leaves or reaches, by name.
std::vector<NodeBalance> balanceOf(const Look& look, std::span<const PlannedMove> moves);

}  // namespace mangrove::descheduler
