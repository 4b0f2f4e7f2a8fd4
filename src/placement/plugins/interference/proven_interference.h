#pragma once
// ProvenInterference: nodes with a workload that was proved to hurt this one, or to be hurt by it, score
// lower. What was proved is an annotation of Nodes (api/interference/proven_pairs.h). A pair counts
// once three episodes on two nodes within a week show it; each episode weighs half as much after a
// week. Not among the defaults.
//
//   PairWeights weights = weigh(evidence, now);
//   weights.at({"shop/web", "batch/sort"})                  // 2.7: 27 points less

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/interference/proven_pairs.h"
#include "placement/framework/plugin.h"

namespace mangrove::placement {

// What each node saw, by its name.
using PairEvidence = std::map<std::string, std::vector<api::ProvenPair>>;
using PairWeights = std::map<std::pair<std::string, std::string>, double>;  // victim, antagonist
// Only pairs that count. Pure.
PairWeights weigh(const PairEvidence& evidence, WallTime now);
// 0 to 100, of the weights of all pairs that would meet on a node.
int32_t pairScore(double weight);

Result<std::unique_ptr<Plugin>> makeProvenInterference(const json::Value& args,
                                                       PluginHandle handle);

}  // namespace mangrove::placement
