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

// The nodes that a pod, or the room of a reservation, was on and is on; none when nothing that
// counts has changed.
template <class Seen>
std::vector<std::string_view> nodesWithNews(const client::Change<Seen>& change) {
  const bool same = change.before && change.after && change.before->node == change.after->node &&
                    change.before->facts == change.after->facts;
  std::vector<std::string_view> out;
  if (same) return out;
  for (const auto& seen : {change.before, change.after})
    if (seen && !seen->node.view().empty()) out.push_back(seen->node.view());
  return out;
}

}  // namespace mangrove::manager
