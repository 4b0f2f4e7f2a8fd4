#pragma once
// A lock on a node by which the scheduler and some vendors' device plugins take turns: an annotation
// with the time and the pod. The scheduler takes it before a binding, the plugin removes it when the
// pod has its card.
//
//   auto patch = takeNodeLock({node, "cambricon.com/dsmlu.lock", pod, now, isThere});
//   if (!patch) … patch.error()             // "node n1 is locked for default/a since …"
//
// Pure functions, any thread.

#include <functional>
#include <string_view>

#include "api/object/node.h"
#include "api/pod/pod.h"
#include "base/clock.h"
#include "base/result.h"
#include "placement/framework/object_patch.h"

namespace mangrove::placement {

// A lock that is older is nobody's: its plugin has died.
inline constexpr Duration kNodeLockLife = std::chrono::minutes(5);

struct NodeLockWish {
  const api::Node& node;
  std::string_view key;  // of the annotation
  const api::Pod& pod;
  WallTime now;
  // Whether a pod, by namespace and name, is on the node or on its way there.
  std::function<bool(std::string_view, std::string_view)> isThere;
};
// What to write; it fails on the server when somebody else has written to the node meanwhile.
Result<ObjectPatch> takeNodeLock(const NodeLockWish& wish);

}  // namespace mangrove::placement
