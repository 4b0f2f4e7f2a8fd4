#pragma once
// Whether a node is worth a write (spec 02 §3.4): status when a sold amount moved by more than the
// threshold, when the last write is long ago, or when there was none yet; metadata when a ratio or
// a device label changed. Device amounts are compared exactly (M7).
//
//   SyncVerdict v = judgeSync(node, granted(node, wish), {.diffThreshold = 0.1, …});
//
// Pure; any thread.

#include <optional>

#include "base/units.h"
#include "manager/controllers/noderesource/node_wish.h"

namespace mangrove::manager {

struct SyncRule {
  double diffThreshold = 0.1;
  Duration longestWait = std::chrono::seconds(300);
  std::optional<Duration> sinceStatusWrite;  // nullopt: never written
};

struct SyncVerdict {
  bool status = false;
  bool meta = false;
  bool any() const { return status || meta; }
  bool operator==(const SyncVerdict&) const = default;
};
SyncVerdict judgeSync(const NodeOwned& before, const NodeOwned& after, const SyncRule& rule);

}  // namespace mangrove::manager
