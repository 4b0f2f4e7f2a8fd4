#include "api/wire/names.h"
#include "placement/plugins/basic/basic.h"

namespace mangrove::placement {

namespace {

class NodeUnschedulable final : public Plugin, public NodeLocal {
 public:
  std::string_view name() const override { return "NodeUnschedulable"; }
  uint32_t interests() const override {
    return bit(EventKind::kPodUpdate) | bit(EventKind::kNodeAdd) | bit(EventKind::kNodeUpdate);
  }
  NodeLocal* nodeLocal() override { return this; }

  bool filters(const PodPlan& plan) const override {
    api::Taint taint;
    taint.key = Interned(api::taint::kUnschedulable);
    taint.effect = api::TaintEffect::kNoSchedule;
    return !api::tolerates(plan.cls->spec->tolerations, taint);
  }
  void fits(const PodPlan&, const NodeTable& table, std::span<const Row> rows,
            Verdict* out) const override {
    for (size_t i = 0; i < rows.size(); i++)
      if (table.unschedulable(rows[i])) out[i].code = Code::kUnresolvable;
  }
  std::vector<std::string> reasons(const PodPlan&, uint32_t) const override {
    return {"node(s) were unschedulable"};
  }
  Hint hint(const ClusterEvent& event, const PodInfo&) override {
    if (event.kind == EventKind::kPodUpdate && (event.actions & action::kTolerations))
      return Hint::kQueue;
    const bool node = event.kind == EventKind::kNodeAdd ||
                      (event.kind == EventKind::kNodeUpdate && (event.actions & action::kTaint));
    return node && event.node && !event.node->spec.unschedulable ? Hint::kQueue : Hint::kSkip;
  }
};

class NodeName final : public Plugin, public NodeLocal {
 public:
  std::string_view name() const override { return "NodeName"; }
  uint32_t interests() const override { return bit(EventKind::kNodeAdd); }
  // Pods that name their node never come here: they are bound already.
  NodeLocal* nodeLocal() override { return this; }
  std::vector<std::string> reasons(const PodPlan&, uint32_t) const override {
    return {"node(s) didn't match the requested node name"};
  }
  Hint hint(const ClusterEvent& event, const PodInfo&) override {
    return event.kind == EventKind::kNodeAdd ? Hint::kQueue : Hint::kSkip;
  }
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeNodeUnschedulable(const json::Value&, PluginHandle) {
  return std::make_unique<NodeUnschedulable>();
}

Result<std::unique_ptr<Plugin>> makeNodeName(const json::Value&, PluginHandle) {
  return std::make_unique<NodeName>();
}

}  // namespace mangrove::placement
