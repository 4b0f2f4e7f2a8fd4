#include "manager/controllers/noderesource/options.h"

#include "manager/switches.h"

namespace mangrove::manager {

std::vector<std::string_view> pluginNames() {
  std::vector<std::string_view> out;
  for (const auto& plugin : kNodeResourcePlugins) out.push_back(plugin.name);
  return out;
}

PlanOptions planOptions(const NodeResourceOptions& options, const FeatureGates& gates) {
  PlanOptions out;
  for (const auto& plugin : kNodeResourcePlugins)
    out.*plugin.on = isSwitchedOn(options.plugins, plugin.name);
  out.gpuShared = gates.on(kSyncGpuShared.name);
  out.mostSpecificEnable = options.mostSpecificEnable;
  return out;
}

}  // namespace mangrove::manager
