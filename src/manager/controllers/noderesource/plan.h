#pragma once
// One pass over one node: everything the plugins calculate, put together as what the node should
// show, with the terms by which it came to be. The controller writes it, `explain` prints it, tests
// check it.
//
//   NodePlan plan = planNode({.node = node, .pods = pods, .metric = &metric, .config = config, …});
//   json::Object patch = patchOf(node, plan.wish);
//
// Pure; any thread.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/koordinator/device.h"
#include "manager/config/node_strategy.h"
#include "manager/controllers/noderesource/alias_views.h"
#include "manager/controllers/noderesource/batch_resource.h"
#include "manager/controllers/noderesource/mid_resource.h"
#include "manager/controllers/noderesource/node_wish.h"
#include "manager/controllers/noderesource/steady.h"
#include "manager/controllers/noderesource/zone_update.h"
#include "manager/windows.h"

namespace mangrove::manager {

// Which plugins run; names as the reference's --noderesource-plugins has them.
struct PlanOptions {
  bool midResource = true;
  bool batchResource = true;
  bool cpuNormalization = true;
  bool resourceAmplification = true;
  bool gpuDeviceResource = true;
  bool rdmaDeviceResource = true;
  bool gpuShared = false;           // gate EnableSyncGPUSharedResource
  bool mostSpecificEnable = false;  // a node may opt in while the cluster is off
};

// What a pass remembers for the next one of the same node.
struct NodeMemory {
  SteadyState steadyCpu;
  SteadyState steadyMemory;
};

struct PlanInputs {
  const api::Node& node;
  std::span<const PodFacts* const> pods;
  std::span<const PodFacts* const> rooms = {};  // of reservations; count where the strategy says so
  const MetricFacts* metric = nullptr;
  const api::NodeResourceTopology* topology = nullptr;
  const api::Device* device = nullptr;
  const SloConfig& config;
  const PlanOptions& options;
  const NodeMemory& memory;
  WallTime now{};
  std::optional<WindowReport> window = {};  // set when a time policy selects the node
};

struct PluginTrouble {
  std::string_view plugin;
  std::string message;
};

struct NodePlan {
  NodeStrategy strategy;
  bool enabled = false;
  std::string disabledBecause;
  BatchResult batch;
  MidResult mid;
  Sold formula;          // what the formula allows
  Sold ledger;           // what is sold: after time windows and steadying, before normalization
  bool byClock = false;  // a time policy decided
  Sold midSold;          // the mid amounts after time windows
  Placed placed;
  std::optional<double> normalization;
  std::vector<ViewReport> views;
  NodeWish wish;
  std::vector<ZoneAmount> zones;  // to write into the topology; empty: leave it alone
  std::vector<PluginTrouble> troubles;
  NodeMemory memory;
  std::optional<Duration> lookAgain;  // a held rise, a metric growing old
};
NodePlan planNode(const PlanInputs& in);

// What is placed through each view by the pods that count.
Placed placedBy(std::span<const PodFacts* const> pods);

}  // namespace mangrove::manager
