#pragma once
// How far a class of pods is from fitting: by how much less it would have to ask for.
//
//   nearestMiss(profile.layout(), table, state)        // "would fit on 2 nodes with 500m less cpu"
//   smallerMembers(profile.layout(), table, state, 2)  // "1 nvidia.com/gpu less": then two fit
//
// "" where no single resource is what is missing. Owner thread only.

#include <string>

#include "placement/cycle/plan_state.h"

namespace mangrove::placement {

// The smallest reduction of one request that would open a node.
std::string nearestMiss(const Layout& layout, const NodeTable& table, PlanState& state);
// The smallest share of one request that all of so many would have to do without.
std::string smallerMembers(const Layout& layout, const NodeTable& table, PlanState& state,
                           int64_t members);

}  // namespace mangrove::placement
