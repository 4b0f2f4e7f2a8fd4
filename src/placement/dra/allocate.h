#pragma once
// Which devices of drivers' pools the claims of a pod get on one node.
//
//   auto pools = poolsOf(slices);
//   auto got = allocateClaims({node, pools, classes, inUse}, {claim});
//   if (!got) … got.error()                 // "request gpus: 2 of 4 devices are free"
//   else      … (*got)[0].devices
//
// Pools of which slices of the newest generation are missing are passed over; a request for all
// devices is refused while there are such on the node. Requests are served in their order, devices
// in that of pools and slices; where constraints are in the way the next ones are tried.
//
// Pure functions, any thread.

#include <set>
#include <string>
#include <vector>

#include "api/object/dynamic_resources.h"
#include "api/object/node.h"
#include "base/result.h"
#include "placement/cluster/storage.h"

namespace mangrove::placement {

struct DevicePool {
  std::string driver, name;
  std::vector<std::shared_ptr<const api::ResourceSlice>> slices;  // of the newest generation
  std::string trouble;  // why nothing can be had of it: "1 of 2 slices are there"; "": it can
};
std::vector<DevicePool> poolsOf(const ObjectMap<api::ResourceSlice>& slices);

struct ClaimsQuestion {
  const api::ObjectMeta& node;
  const std::vector<DevicePool>& pools;
  const ObjectMap<api::DeviceClass>& classes;
  const std::set<std::string>& inUse;  // deviceKey
};
struct AllocatedClaim {
  std::vector<api::GivenDevice> devices;
  bool isLocal = false;  // some device is not to be had on every node
};
// By claim. The error is for the pod's user.
Result<std::vector<AllocatedClaim>> allocateClaims(
    const ClaimsQuestion& question, const std::vector<const api::ResourceClaim*>& claims);

// What of a claim no node can serve: a class that is not there, a selector or a request beyond what
// is served. Nothing is looked up on nodes.
Result<> checkClaim(const api::ResourceClaim& claim, const ObjectMap<api::DeviceClass>& classes);

}  // namespace mangrove::placement
