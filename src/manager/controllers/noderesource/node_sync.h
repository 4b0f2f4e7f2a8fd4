#pragma once
// Whether a node is worth a write: status when a sold amount moved by more than the
// threshold, when the last write is long ago, or when there was none yet; metadata when a ratio or
// a device label changed. Device amounts are compared exactly.
//
//   SyncVerdict v = judgeSync(node, granted(node, wish), {.diffThreshold = 0.1, …});
//
// Pure; any thread.

#include <optional>

#include "api/annotations/sale_rule.h"
#include "base/number/units.h"
#include "manager/config/strategies.h"
#include "manager/controllers/noderesource/node_wish.h"

namespace mangrove::manager {

struct SyncRule {
  double diffThreshold = 0.1;
  Duration longestWait = std::chrono::seconds(300);
  std::optional<Duration> sinceStatusWrite;  // nullopt: never written
  bool dropsAtOnce = false;  // any fall of batch resources, by any name, is worth a write
};

struct SyncVerdict {
  bool status = false;
  bool meta = false;
  bool any() const { return status || meta; }
  bool operator==(const SyncVerdict&) const = default;
};
SyncVerdict judgeSync(const NodeOwned& before, const NodeOwned& after, const SyncRule& rule);

// The rule by which a plan is written: the strategy's; under a time policy 5 %, a minute, and drops
// at once; with alias views drops at once, because what was placed under one name is
// on offer under the others until they are lowered; when steadied, every value that steadying lets
// through.
SyncRule syncRule(const Colocation& strategy, bool byClock,
                  std::optional<Duration> sinceStatusWrite);
// The same as agents are told: where a fall is written at once, every move is worth a report.
api::SaleRule saleRuleOf(const Colocation& strategy, bool byClock);

}  // namespace mangrove::manager
