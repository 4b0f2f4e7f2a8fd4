#pragma once
// DynamicResources: claims of Kubernetes' own devices (resource.k8s.io/v1). Finds devices for the
// claims of a pod on a node, keeps them until the server shows the allocation, and writes
// status.allocation and status.reservedFor before the pod is bound.

#include "placement/dra/allocate.h"
#include "placement/dra/objects.h"
#include "placement/framework/plugin.h"

namespace mangrove::placement {

// What is written into a claim for a pod: the finalizer that keeps it, devices where it has none yet,
// and who uses it. In the order it must be written.
struct ClaimWrite {
  const api::ResourceClaim& claim;
  const ClaimPromise& promise;
  const ObjectMap<api::DeviceClass>& classes;
};
std::vector<ObjectPatch> claimPatches(const ClaimWrite& write);

Result<std::unique_ptr<Plugin>> makeDynamicResources(const json::Value& args, PluginHandle handle);

}  // namespace mangrove::placement
