#pragma once
// From a calculated amount to what the node shows: CPU normalization, whole numbers, the origin
// annotation, and what third parties (YARN) hold already.
//
//   // 25000 for sale, ratio 1.20 → batch-cpu 30000; YARN holds 10000 → 20000, origin 30000
//   Result<> ok = prepareBatch(node, {.milliCpu = 25000, .memoryBytes = …, .ratio = 1.2}, wish);
//
// Pure; any thread.

#include <optional>

#include "base/result.h"
#include "manager/controllers/noderesource/alias_views.h"
#include "manager/controllers/noderesource/node_wish.h"

namespace mangrove::manager {

struct BatchItem {
  bool reset = false;
  int64_t milliCpu = 0;
  int64_t memoryBytes = 0;
  std::optional<double> ratio;  // cpu-normalization of this pass; counts when above 1
};

// milli-cores times the ratio, rounded up to a whole one; unchanged without a ratio above 1.
int64_t normalized(int64_t milliCpu, const std::optional<double>& ratio);

// The largest amount that would show as `shown`.
int64_t denormalized(int64_t shown, const std::optional<double>& ratio);

// Fails when the third-party annotation cannot be read; what was not subtracted then stays in the
// wish.
Result<> prepareBatch(const api::Node& node, const BatchItem& item, NodeWish& wish);

// The way back: what a node that sells was given last, before third parties, other names and
// normalization. Nullopt when it sells nothing.
std::optional<Sold> standingLedger(const api::Node& node);

}  // namespace mangrove::manager
