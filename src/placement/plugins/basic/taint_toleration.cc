#include <algorithm>

#include "placement/plugins/basic/basic.h"

namespace mangrove::placement {

namespace {

// Answers per distinct set of taints: a cluster has few of them.
struct TaintPlan final : PlanData {
  struct Answer {
    bool known = false;
    bool tolerated = false;
    int32_t disliked = 0;
  };
  mutable std::vector<Answer> answers;
};

bool keepsAway(const api::Taint& taint) {
  return taint.effect == api::TaintEffect::kNoSchedule ||
         taint.effect == api::TaintEffect::kNoExecute;
}

class TaintToleration final : public Plugin, public NodeLocal {
 public:
  std::string_view name() const override { return "TaintToleration"; }
  uint32_t interests() const override {
    return bit(EventKind::kPodUpdate) | bit(EventKind::kNodeAdd) | bit(EventKind::kNodeUpdate);
  }
  NodeLocal* nodeLocal() override { return this; }
  std::unique_ptr<PlanData> compile(const PodClass&) override {
    return std::make_unique<TaintPlan>();
  }

  bool filters(const PodPlan&) const override { return true; }
  void fits(const PodPlan& plan, const NodeTable& table, std::span<const Row> rows,
            Verdict* out) const override {
    for (size_t i = 0; i < rows.size(); i++)
      if (!answer(plan, table, rows[i]).tolerated) out[i].code = Code::kUnresolvable;
  }
  bool scores(const PodPlan&) const override { return true; }
  Scale scale() const override { return Scale::kReverseShareOfMax; }
  void score(const PodPlan& plan, const NodeTable& table, std::span<const Row> rows,
             int32_t* out) const override {
    for (size_t i = 0; i < rows.size(); i++) out[i] = answer(plan, table, rows[i]).disliked;
  }
  std::vector<std::string> reasons(const PodPlan&, uint32_t) const override {
    return {"node(s) had untolerated taint(s)"};
  }
  Hint hint(const ClusterEvent& event, const PodInfo& pod) override {
    if (event.kind == EventKind::kPodUpdate && (event.actions & action::kTolerations))
      return Hint::kQueue;
    const bool node = event.kind == EventKind::kNodeAdd ||
                      (event.kind == EventKind::kNodeUpdate && (event.actions & action::kTaint));
    if (!node || !event.node) return Hint::kSkip;
    return tolerated(event.node->spec.taints, *pod.cls) ? Hint::kQueue : Hint::kSkip;
  }

 private:
  static bool tolerated(const std::vector<api::Taint>& taints, const PodClass& cls) {
    return std::all_of(taints.begin(), taints.end(), [&](const api::Taint& taint) {
      return !keepsAway(taint) || api::tolerates(cls.spec->tolerations, taint);
    });
  }
  // Tolerations for NoSchedule say nothing about likes; those for no or this effect do.
  static int32_t disliked(const std::vector<api::Taint>& taints, const PodClass& cls) {
    int32_t count = 0;
    for (const auto& taint : taints) {
      if (taint.effect != api::TaintEffect::kPreferNoSchedule) continue;
      const auto& all = cls.spec->tolerations;
      count += std::none_of(all.begin(), all.end(), [&](const api::Toleration& toleration) {
        const bool counts = toleration.effect == api::TaintEffect::kNone ||
                            toleration.effect == api::TaintEffect::kPreferNoSchedule;
        return counts && api::tolerates(toleration, taint);
      });
    }
    return count;
  }
  const TaintPlan::Answer& answer(const PodPlan& plan, const NodeTable& table, Row row) const {
    auto& answers = plan.get<TaintPlan>(slot()).answers;
    const uint32_t set = table.taintSet(row);
    if (answers.size() <= set) answers.resize(table.taintSets());
    auto& slot = answers[set];
    if (!slot.known)
      slot = {true, tolerated(table.taints(set), *plan.cls),
              disliked(table.taints(set), *plan.cls)};
    return slot;
  }
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeTaintToleration(const json::Value&, PluginHandle) {
  return std::make_unique<TaintToleration>();
}

}  // namespace mangrove::placement
