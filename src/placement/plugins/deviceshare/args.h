#pragma once
// DeviceShareArgs. Pure functions.

#include <string>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "placement/device/pick.h"

namespace mangrove::placement {

struct GpuModel {
  std::string vendor, model;
  bool operator==(const GpuModel&) const = default;
};

struct DeviceShareArgs {
  CardOrder order = CardOrder::kLeastAllocated;
  CardWeights weights = evenCardWeights();
  // Ours: nodes are scored by how much they lose for the shapes seen lately (device/fragments.h).
  bool keepsShapes = false;
  bool alignsNuma = true;                         // disableDeviceNUMATopologyAlignment
  std::vector<GpuModel> unshareable;              // gpuShareUnsupportedModels
  std::vector<Interned> templated;                // requests for these must be a template
  std::string templatesNamespace, templatesName;  // of the ConfigMap; "": the lease's
};
Result<DeviceShareArgs> readDeviceShareArgs(const json::Value& args);

}  // namespace mangrove::placement
