#include "placement/plugins/nodeaffinity/node_affinity.h"

#include "placement/framework/args.h"

namespace mangrove::placement {

RequiredNodes::RequiredNodes(const api::PodSpec& spec) : selector_(spec.nodeSelector) {
  if (const auto& required = spec.affinity->node.required) terms_.emplace(*required);
}

bool RequiredNodes::match(const api::ObjectMeta& node) const {
  return api::contains(node.labels, selector_) && (!terms_ || terms_->match(node));
}

std::optional<std::vector<std::string>> RequiredNodes::pinned() const {
  if (!terms_ || terms_->terms().empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& term : terms_->terms()) {
    const auto name = term.pinnedName();
    if (!name) return std::nullopt;
    names.emplace_back(*name);
  }
  return names;
}

namespace {

struct Preferred {
  int32_t weight;
  api::NodeTerm term;
};

struct AffinityPlan final : PlanData {
  explicit AffinityPlan(const api::PodSpec& spec) : required(spec) {
    for (const auto& entry : spec.affinity->node.preferred)
      if (entry.weight != 0) preferred.push_back({entry.weight, api::NodeTerm(entry.term)});
  }
  RequiredNodes required;
  std::vector<Preferred> preferred;
};

class NodeAffinity final : public Plugin, public NodeLocal {
 public:
  NodeAffinity(const NodeTable& table, const api::NodeAffinity& added) : table_(table) {
    if (added.required) required_.emplace(*added.required);
    for (const auto& entry : added.preferred)
      preferred_.push_back({entry.weight, api::NodeTerm(entry.term)});
  }
  std::string_view name() const override { return "NodeAffinity"; }
  uint32_t interests() const override {
    return bit(EventKind::kNodeAdd) | bit(EventKind::kNodeUpdate);
  }
  NodeLocal* nodeLocal() override { return this; }
  std::unique_ptr<PlanData> compile(const PodClass& cls) override {
    return std::make_unique<AffinityPlan>(*cls.spec);
  }

  bool prepares() const override { return true; }
  PodVerdict prepare(const PodPlan& plan, const api::Pod&) override {
    PodVerdict out;
    if (plan.cls->spec->affinity->node.required.has_value())
      if (auto names = plan.get<AffinityPlan>(slot()).required.pinned()) {
        out.narrows = true;
        out.rows = table_.find(*names);
      }
    return out;
  }

  bool filters(const PodPlan& plan) const override {
    return required_ || plan.get<AffinityPlan>(slot()).required.any();
  }
  void fits(const PodPlan& plan, const NodeTable& table, std::span<const Row> rows,
            Verdict* out) const override {
    const auto& mine = plan.get<AffinityPlan>(slot()).required;
    for (size_t i = 0; i < rows.size(); i++) {
      const api::ObjectMeta& node = table.node(rows[i]).meta;
      if (required_ && !required_->match(node))
        out[i] = {Code::kUnresolvable, 0, 1};
      else if (!mine.match(node))
        out[i] = {Code::kUnresolvable, 0, 0};
    }
  }

  bool scores(const PodPlan& plan) const override {
    return !preferred_.empty() || !plan.get<AffinityPlan>(slot()).preferred.empty();
  }
  Scale scale() const override { return Scale::kShareOfMax; }
  void score(const PodPlan& plan, const NodeTable& table, std::span<const Row> rows,
             int32_t* out) const override {
    const auto sum = [](const std::vector<Preferred>& all, const api::ObjectMeta& node) {
      int32_t total = 0;
      for (const auto& entry : all)
        if (entry.term.matches(node.name, node.labels)) total += entry.weight;
      return total;
    };
    const auto& mine = plan.get<AffinityPlan>(slot()).preferred;
    for (size_t i = 0; i < rows.size(); i++) {
      const api::ObjectMeta& node = table.node(rows[i]).meta;
      out[i] = sum(mine, node) + sum(preferred_, node);
    }
  }

  std::vector<std::string> reasons(const PodPlan&, uint32_t why) const override {
    return {why == 1 ? "node(s) didn't match scheduler-enforced node affinity"
                     : "node(s) didn't match Pod's node affinity/selector"};
  }
  Hint hint(const ClusterEvent& event, const PodInfo& pod) override {
    const bool node = event.kind == EventKind::kNodeAdd ||
                      (event.kind == EventKind::kNodeUpdate && (event.actions & action::kLabel));
    if (!node || !event.node) return Hint::kSkip;
    if (required_ && !required_->match(event.node->meta)) return Hint::kSkip;
    return RequiredNodes(*pod.cls->spec).match(event.node->meta) ? Hint::kQueue : Hint::kSkip;
  }

 private:
  const NodeTable& table_;
  std::optional<api::NodeTerms> required_;
  std::vector<Preferred> preferred_;
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeNodeAffinity(const json::Value& value, PluginHandle handle) {
  Args args(value, "NodeAffinityArgs");
  args.only({"addedAffinity"});
  api::Affinity added;
  if (const json::Value* given = args.find("addedAffinity")) {
    auto decoded =
        api::decodeText<api::Affinity>(json::write(json::Object{{"nodeAffinity", *given}}));
    if (!decoded) return decoded.error().in("addedAffinity");
    added = std::move(*decoded);
  }
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return std::make_unique<NodeAffinity>(handle.cluster.table, added.node);
}

}  // namespace mangrove::placement
