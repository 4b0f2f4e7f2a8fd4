#pragma once
// What vendors' own device plugins read to learn which cards the scheduler chose (gate
// DevicePluginAdaption). Pure functions.

#include <functional>
#include <string_view>

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
  // Whether a pod, by namespace and name, is on the node or on its way there.
  std::function<bool(std::string_view, std::string_view)> isThere;
};
// Adds annotations and labels of the pod, and the lock on its node where the vendor's plugin wants
// one; refuses what that plugin could not carry out.
Result<> adapt(const Adaption& what, BindNotes& notes);

}  // namespace mangrove::placement
