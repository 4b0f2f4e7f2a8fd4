#pragma once
// The memory part of the kernel floor: what services asked for is protected (memory.low), so that
// the kernel reclaims from best-effort work first, and a best-effort pod that meets the OOM killer
// goes as a whole. Soft on purpose: a service that asked for more than it uses keeps nobody out.
//
//   wantFloorMemory(now, out);      // by the floor's strategy, where colocation is on
//
// The memory QoS of the NodeSLO has precedence over both. Pure, any thread.

#include "agent/qos/strategy.h"

namespace mangrove::agent {

void wantFloorMemory(const Situation& now, Wishes& out);

}  // namespace mangrove::agent
