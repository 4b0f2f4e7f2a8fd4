#pragma once
// What vendors' own device plugins read to learn which cards the scheduler chose (gate
// DevicePluginAdaption). Pure functions.

#include "api/annotations/device.h"
#include "api/object/node.h"
#include "api/pod/pod.h"
#include "placement/framework/plugin.h"

namespace mangrove::placement {

struct Adaption {
  const api::Pod& pod;
  const api::Node& node;
  const api::DeviceAllocations& given;
  WallTime now;
};
// Adds annotations and labels of the pod; refuses what a vendor's plugin could not carry out.
Result<> adapt(const Adaption& what, BindNotes& notes);

}  // namespace mangrove::placement
