#pragma once
// The condition by which a node's agent says that it had to evict and takes no new best-effort work
// for a while. The agent writes it, the manager sells no more than what is placed while it is True.

#include <string_view>

#include "api/object/condition.h"
#include "api/object/node.h"

namespace mangrove::api {

inline constexpr std::string_view kBestEffortPaused = "colocation.mangrove.io/BestEffortPaused";

inline bool isPaused(const Node& node) {
  return isTrue(node.status.conditions, kBestEffortPaused);
}

}  // namespace mangrove::api
