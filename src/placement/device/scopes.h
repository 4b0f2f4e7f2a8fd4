#pragma once
// GPUs close to each other: the narrowest of switch, NUMA node and node that holds all cards of a
// request, and among equals the one that is broken into already.
//
//   card 5 in use: 1 wanted → 4, beside it; 2 wanted → 0 and 1, a pair that is whole
//
// Pure functions, any thread.

#include "placement/device/pick.h"

namespace mangrove::placement {

struct ScopeQuestion {
  const CardRefs& visible;  // every one with a topology
  int64_t count = 1;
  const Amounts& each;
  bool shared = false;  // one card, the best by its score; else the lowest minors
  int required = 0;     // api::topologyScopeLevel: no scope wider than this
  CardScorer scorer = {};
};
Picked pickInScope(const ScopeQuestion& question);

}  // namespace mangrove::placement
