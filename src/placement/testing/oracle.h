#pragma once
// Filter and score of Kubernetes' default plugins written down as plainly as possible: no caches,
// no columns, every pod looked at for every node. Slow and obviously right; the engine is compared
// with it node by node (oracle_test.cc). Test code.

#include "placement/testing/oracle_world.h"

namespace mangrove::placement::oracle {

// The first reason why not, by Kubernetes' order of plugins; "" when the pod fits.
std::string refusal(const World& world, const api::Pod& pod, size_t place);
// Plugin → 0..100 per feasible place, normalised; plugins that skip the pod are absent.
std::map<std::string, std::vector<int64_t>> scores(const World& world, const api::Pod& pod,
                                                   const std::vector<size_t>& feasible);

}  // namespace mangrove::placement::oracle
