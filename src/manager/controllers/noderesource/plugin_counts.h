#pragma once
// slo_controller_node_resource_run_plugin_status{plugin,status,reason}: how often each plugin ran
// and failed, under the reference's words for its stages.
//
//   PluginCounts counts(metrics, options);
//   counts.passed(plan);                       // every plugin calculated or reset the node
//   counts.zonesWritten(true);
//
// Owner thread.

#include <string>
#include <vector>

#include "base/metrics.h"
#include "manager/controllers/noderesource/plan.h"

namespace mangrove::manager {

class PluginCounts {
 public:
  PluginCounts(Registry& metrics, const PlanOptions& options);

  void passed(const NodePlan& plan);
  void zonesWritten(bool good);

 private:
  struct Plugin {
    std::string_view name;
    Counter calculated, reset;  // handles, because every pass counts every plugin
  };
  CounterFamily& family_;
  std::vector<Plugin> plugins_;  // those that are switched on
};

}  // namespace mangrove::manager
