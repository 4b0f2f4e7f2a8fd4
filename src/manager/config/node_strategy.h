#pragma once
// What holds for one node: the ConfigMap's layers, then what the node itself says in annotations
// and labels.
//
//   NodeStrategy s = colocationFor(config.colocation.config, node.meta);
//   if (!s.ignored.empty()) events.warning(node, "…", s.ignored);
//
// Pure; any thread.

#include <string>

#include "api/koordinator/node_slo.h"
#include "api/object/meta.h"
#include "manager/config/slo_config.h"

namespace mangrove::manager {

struct NodeStrategy {
  Colocation strategy;
  bool inRange = true;  // the runtime ranges hold for what was merged
  std::string ignored;  // why the node's annotation was not used; "" when it was, or is absent
  std::string from;     // "cluster", "nodeConfigs 'pool-a'", plus " + annotation", " + labels"
};
NodeStrategy colocationFor(const Layered<Colocation>& config, const api::ObjectMeta& node);

// A ratio label in percent, rounded to the nearest: 0.57 → 57.
Percent ratioPercent(double ratio);

// With the node's own label; an unreadable label is an error.
Result<CpuNormalization> normalizationFor(const Layered<CpuNormalization>& config,
                                          const api::Labels& node);

// The NodeSLO of a node. The annotation network-bandwidth overrides the bandwidth; when it is no
// quantity, `trouble` says so and the systemStrategy is left out.
struct RenderedSlo {
  api::NodeSloSpec spec;
  std::string trouble;
};
RenderedSlo renderNodeSlo(const SloConfig& config, const api::ObjectMeta& node);

}  // namespace mangrove::manager
