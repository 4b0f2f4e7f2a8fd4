#pragma once
// Accelerators and RDMA cards of a node as node resources, summed from its Device object.
// Independent of whether colocation is on.
//
//   addDeviceResources(device.get(), {.gpuShared = gates.on(…)}, wish);
//
// Pure; any thread.

#include <array>
#include <span>
#include <string_view>

#include "api/koordinator/device.h"
#include "manager/controllers/noderesource/node_wish.h"

namespace mangrove::manager {

struct DeviceOptions {
  bool gpuShared = false;  // gate EnableSyncGPUSharedResource
  bool gpu = true;         // plugins
  bool rdma = true;
  // Whole cards under the vendor's own name too: where our runner runs the pods there is no kubelet
  // to which a vendor's device plugin could tell them.
  bool vendorName = false;
};

// nullptr: the node has no Device object. Names that were ours and are no longer there are removed;
// names the Device does not mention stay as they are on the node.
void addDeviceResources(const api::Device* device, const DeviceOptions& options, NodeWish& wish);

// Everything the two plugins own on a node.
std::span<const std::string_view> deviceResourceNames();
std::span<const std::string_view> deviceLabelNames();

}  // namespace mangrove::manager
