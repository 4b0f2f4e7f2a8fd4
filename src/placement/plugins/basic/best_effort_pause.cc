// Keeps best-effort pods off a node whose agent had to evict and said so by a condition. Pods that
// ask for batch resources do not fit there anyway (the manager sells no more than is placed); this
// is for those that ask for none.
#include "api/object/node_pause.h"
#include "placement/plugins/basic/basic.h"

namespace mangrove::placement {

namespace {

class BestEffortPause final : public Plugin, public NodeLocal {
 public:
  std::string_view name() const override { return "BestEffortPause"; }
  uint32_t interests() const override {
    return bit(EventKind::kNodeAdd) | bit(EventKind::kNodeUpdate);
  }
  NodeLocal* nodeLocal() override { return this; }

  bool filters(const PodPlan& plan) const override { return plan.cls->qos == api::Qos::kBe; }
  void fits(const PodPlan&, const NodeTable& table, std::span<const Row> rows,
            Verdict* out) const override {
    for (size_t i = 0; i < rows.size(); i++)
      if (api::isPaused(table.node(rows[i]))) out[i].code = Code::kUnresolvable;
  }
  std::vector<std::string> reasons(const PodPlan&, uint32_t) const override {
    return {"node(s) took no new best-effort pods after an eviction"};
  }
  Hint hint(const ClusterEvent& event, const PodInfo&) override {
    const bool about = event.kind == EventKind::kNodeAdd || (event.kind == EventKind::kNodeUpdate &&
                                                             (event.actions & action::kCondition));
    return about && event.node && !api::isPaused(*event.node) ? Hint::kQueue : Hint::kSkip;
  }
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeBestEffortPause(const json::Value&, PluginHandle) {
  return std::make_unique<BestEffortPause>();
}

}  // namespace mangrove::placement
