#pragma once
// What the node-resource controller is told by flags and gates, and its plugins by name.
//
//   PlanOptions options = planOptions({.plugins = {"*", "-MidResource"}}, gates);
//
// Pure.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/feature_gates.h"
#include "manager/controllers/noderesource/plan.h"

namespace mangrove::manager {

struct NodeResourceOptions {
  std::vector<std::string> plugins = {"*"};  // --noderesource-plugins
  bool mostSpecificEnable = false;           // --most-specific-enable
};

// One row per plugin: the name users write, and what it switches.
struct NodeResourcePlugin {
  std::string_view name;
  bool PlanOptions::*on;
};
inline constexpr std::array kNodeResourcePlugins = {
    NodeResourcePlugin{"MidResource", &PlanOptions::midResource},
    NodeResourcePlugin{"BatchResource", &PlanOptions::batchResource},
    NodeResourcePlugin{"CPUNormalization", &PlanOptions::cpuNormalization},
    NodeResourcePlugin{"ResourceAmplification", &PlanOptions::resourceAmplification},
    NodeResourcePlugin{"GPUDeviceResource", &PlanOptions::gpuDeviceResource},
    NodeResourcePlugin{"RDMADeviceResource", &PlanOptions::rdmaDeviceResource},
};
std::vector<std::string_view> pluginNames();

inline constexpr GateInfo kSyncGpuShared{"EnableSyncGPUSharedResource", false, Maturity::kAlpha,
                                         "write koordinator.sh/gpu.shared on nodes"};

PlanOptions planOptions(const NodeResourceOptions& options, const FeatureGates& gates);

}  // namespace mangrove::manager
