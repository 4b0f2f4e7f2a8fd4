#pragma once
// ScaleDownBinPack: in which order pods should go when their workloads shrink, so that nodes become
// empty: nodes first that hold little besides. The order is written as pod-deletion-cost
// (CalculateOnly), or pods are evicted by it.

#include <map>
#include <string>
#include <vector>

#include "descheduler/plugin.h"
#include "descheduler/plugins/selection.h"

namespace mangrove::descheduler {

struct BinPackArgs {
  bool paused = false;
  bool evicts = false;  // strategy EvictDirectly; otherwise CalculateOnly
  int64_t maxPodsToEvict = 0;
  MaybeSelector nodeSelector;
  PodChoice choice;
  std::vector<std::string> resources = {"cpu", "memory"};
  std::map<std::string, double> weights;  // absent: 1
};
Result<BinPackArgs> readBinPackArgs(const json::Value& args);

// First to go first; and those that match the selectors and may not be evicted.
struct BinPackOrder {
  Pods ranked;
  Pods skipped;
};

class ScaleDownBinPack final : public Plugin {
 public:
  static constexpr std::string_view kName = "ScaleDownBinPack";
  explicit ScaleDownBinPack(BinPackArgs args) : args_(std::move(args)) {}
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;
  BinPackOrder order(Round& round) const;

 private:
  struct NodeShare;
  double fractionOf(const api::ResourceList& requests, const api::Node& node) const;
  NodeShare shareOf(const api::Node& node, Round& round) const;

  BinPackArgs args_;
};

}  // namespace mangrove::descheduler
