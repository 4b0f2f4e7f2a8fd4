#pragma once
// Whose sums a change of a pod touches.
//
//   for (const auto& node : nodesWithNews(change)) keys.addAfter(node, kPodDelay);
//
// Pure.

#include <string>
#include <vector>

#include "manager/caches.h"

namespace mangrove::manager {

// Pods come in bursts; their node is looked at once for all of them.
inline constexpr Duration kPodDelay = std::chrono::milliseconds(500);

// The nodes it was on and is on; none when nothing that counts has changed.
std::vector<std::string_view> nodesWithNews(const client::Change<PodSeen>& change);

}  // namespace mangrove::manager
