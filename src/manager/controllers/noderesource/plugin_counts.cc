#include "manager/controllers/noderesource/plugin_counts.h"

#include <algorithm>

#include "manager/controllers/noderesource/options.h"

namespace mangrove::manager {
namespace {

constexpr const char* kCalculate = "ResourceCalculate";
constexpr const char* kReset = "ResourceReset";
constexpr const char* kZones = "NodePreUpdate";
constexpr const char* kGood = "succeeded";
constexpr const char* kBad = "failed";

}  // namespace

PluginCounts::PluginCounts(Registry& metrics, const PlanOptions& options)
    : family_(metrics.counters("slo_controller_node_resource_run_plugin_status",
                               "Plugins that ran in a pass over a node, by what became of it.",
                               {"plugin", "status", "reason"})) {
  for (const auto& one : kNodeResourcePlugins) {
    if (!(options.*one.on)) continue;
    const std::string name(one.name);
    plugins_.push_back(
        {one.name, family_.with({name, kGood, kCalculate}), family_.with({name, kGood, kReset})});
  }
}

void PluginCounts::passed(const NodePlan& plan) {
  for (Plugin& plugin : plugins_) {
    const bool failed =
        std::any_of(plan.troubles.begin(), plan.troubles.end(),
                    [&](const PluginTrouble& trouble) { return trouble.plugin == plugin.name; });
    if (failed)
      family_.with({std::string(plugin.name), kBad, kCalculate}).inc();
    else
      (plan.enabled ? plugin.calculated : plugin.reset).inc();
  }
}

void PluginCounts::zonesWritten(bool good) {
  family_.with({"BatchResource", good ? kGood : kBad, kZones}).inc();
}

}  // namespace mangrove::manager
