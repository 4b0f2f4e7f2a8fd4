#pragma once
// LowNodeLoad: pods leave nodes whose measured load is above their high bound for long enough, while
// there are nodes below their low bound that have room for what they use.
//
// A target's room is taken when a pod is chosen for eviction, after sorting, and given back when the
// eviction fails; so small pods that sort first are not shut out by large ones that never move.

#include "descheduler/load/detector.h"
#include "descheduler/load/usage_history.h"
#include "descheduler/plugin.h"
#include "descheduler/plugins/low_node_load_args.h"

namespace mangrove::descheduler {

class LowNodeLoad final : public Plugin {
 public:
  static constexpr std::string_view kName = "LowNodeLoad";
  explicit LowNodeLoad(LowNodeLoadArgs args);
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;

 private:
  struct Sorted;
  using NodeSet = std::set<const api::Node*>;
  void balance(const LoadPool& pool, Round& round, NodeSet& done);
  void observe(const LoadPool& pool, Sorted& sorted, MonoTime now);

  LowNodeLoadArgs args_;
  Detectors nodeDetectors_;
  Detectors prodDetectors_;
  int64_t movesLeft_ = 0;                          // of this cycle's budget for minimal plans
  std::map<std::string, UsageHistory> histories_;  // by pool; kept while moves are proven
};

}  // namespace mangrove::descheduler
