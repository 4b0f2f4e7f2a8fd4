#include <algorithm>

#include "placement/plugins/noderesources/noderesources.h"
#include "placement/plugins/noderesources/scoring.h"

namespace mangrove::placement {

namespace {

class BalancedAllocation final : public Plugin, public NodeLocal {
 public:
  explicit BalancedAllocation(std::vector<ScoringStrategy::Weighted> resources)
      : resources_(std::move(resources)) {}
  std::string_view name() const override { return "NodeResourcesBalancedAllocation"; }
  NodeLocal* nodeLocal() override { return this; }

  bool scores(const PodPlan& plan) const override {
    return std::any_of(resources_.begin(), resources_.end(), [&](const auto& resource) {
      return plan.cls->requests.amount(resource.id) > 0;
    });
  }
  void score(const PodPlan& plan, const NodeTable& table, std::span<const Row> rows,
             int32_t* out) const override {
    struct Term {
      const int64_t *have, *used;
      int64_t ask;
    };
    std::vector<Term> terms;
    for (const auto& resource : resources_) {
      const int64_t ask = plan.cls->requests.amount(resource.id);
      const bool scalar = resource.id > kStorageId;
      if (ask > 0 || !scalar)
        terms.push_back({table.allocatable(resource.id), table.requested(resource.id), ask});
    }
    std::vector<double> fractions;
    for (size_t i = 0; i < rows.size(); i++) {
      fractions.clear();
      for (const Term& t : terms) {
        if (t.have[rows[i]] == 0) continue;
        const double share =
            static_cast<double>(t.used[rows[i]] + t.ask) / static_cast<double>(t.have[rows[i]]);
        fractions.push_back(std::min(share, 1.0));
      }
      out[i] = static_cast<int32_t>(balanced(fractions));
    }
  }

 private:
  std::vector<ScoringStrategy::Weighted> resources_;
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeBalancedAllocation(const json::Value& value,
                                                       PluginHandle handle) {
  Args args(value, "NodeResourcesBalancedAllocationArgs");
  args.only({"resources"});
  auto resources = readWeights(args, handle.cluster.table.resources());
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return std::make_unique<BalancedAllocation>(std::move(resources));
}

}  // namespace mangrove::placement
