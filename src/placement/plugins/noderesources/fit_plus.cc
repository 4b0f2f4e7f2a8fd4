#include <algorithm>

#include <fmt/core.h>

#include "api/pod/pod_requests.h"
#include "placement/framework/scale.h"
#include "placement/plugins/noderesources/noderesources.h"
#include "placement/plugins/noderesources/scoring.h"

namespace mangrove::placement {

namespace {

struct PlusRule {
  ResourceId id;
  std::string type;
  int64_t weight;
};

struct PlusPlan final : PlanData {
  struct Term {
    const PlusRule* rule;
    int64_t ask;
  };
  std::vector<Term> terms;
};

class FitPlus final : public Plugin, public NodeLocal {
 public:
  explicit FitPlus(std::vector<PlusRule> rules) : rules_(std::move(rules)) {}
  std::string_view name() const override { return "NodeResourcesFitPlus"; }
  NodeLocal* nodeLocal() override { return this; }

  std::unique_ptr<PlanData> compile(const PodClass& cls) override {
    auto plan = std::make_unique<PlusPlan>();
    for (const PlusRule& rule : rules_) {
      if (cls.requests.amount(rule.id) == 0) continue;
      int64_t ask = cls.requests.amount(rule.id);
      if (rule.id == kCpuId) ask = cls.requests.nonZeroCpu;
      if (rule.id == kMemoryId) ask = cls.requests.nonZeroMemory;
      plan->terms.push_back({&rule, ask});
    }
    return plan;
  }

  bool scores(const PodPlan&) const override { return true; }
  void score(const PodPlan& plan, const NodeTable& table, std::span<const Row> rows,
             int32_t* out) const override {
    const auto& terms = plan.get<PlusPlan>(slot()).terms;
    for (size_t i = 0; i < rows.size(); i++) {
      int64_t sum = 0, weights = 0;
      for (const auto& term : terms) {
        sum += scoreOf(*term.rule, term.ask, table, rows[i]) * term.rule->weight;
        weights += term.rule->weight;
      }
      out[i] = static_cast<int32_t>(weights == 0 ? kMaxScore : sum / weights);
    }
  }

 private:
  static int64_t scoreOf(const PlusRule& rule, int64_t ask, const NodeTable& table, Row row) {
    const int64_t have = table.allocatable(rule.id)[row];
    int64_t used = table.requested(rule.id)[row];
    if (rule.id == kCpuId) used = table.nonZeroCpu()[row];
    if (rule.id == kMemoryId) used = table.nonZeroMemory()[row];
    if (have == 0) return 0;
    if (rule.type == "MostAllocated") return mostAllocated(used + ask, have);
    if (rule.type == "LeastAllocated") return leastAllocated(used + ask, have);
    return 0;
  }

  const std::vector<PlusRule> rules_;
};

class ScarceAvoidance final : public Plugin, public NodeLocal {
 public:
  ScarceAvoidance(Cluster& cluster, std::vector<std::string> scarce) : cluster_(cluster) {
    for (const auto& name : scarce) scarce_.push_back(cluster.table.resources().of(Interned(name)));
  }
  std::string_view name() const override { return "ScarceResourceAvoidance"; }
  NodeLocal* nodeLocal() override { return this; }

  bool scores(const PodPlan&) const override { return true; }
  void score(const PodPlan& plan, const NodeTable& table, std::span<const Row> rows,
             int32_t* out) const override {
    const size_t resources = cluster_.table.resources().size();
    for (size_t i = 0; i < rows.size(); i++) {
      int64_t unasked = 0, wasted = 0;
      for (ResourceId id = 0; id < resources; id++) {
        if (table.allocatable(id)[rows[i]] <= 0 || plan.cls->requests.amount(id) > 0) continue;
        unasked++;
        wasted += std::find(scarce_.begin(), scarce_.end(), id) != scarce_.end();
      }
      out[i] =
          static_cast<int32_t>(wasted == 0 ? kMaxScore : (unasked - wasted) * kMaxScore / unasked);
    }
  }

 private:
  Cluster& cluster_;
  std::vector<ResourceId> scarce_;
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeNodeResourcesFitPlus(const json::Value& value,
                                                         PluginHandle handle) {
  Args args(value, "NodeResourcesFitPlusArgs");
  args.only({"resources"});
  std::vector<PlusRule> rules;
  if (const json::Value* given = args.find("resources"); given && given->is_object())
    for (const auto& member : given->get_object()) {
      Args one(member.value(), fmt::format("resources.{}", std::string_view(member.key())));
      one.only({"type", "weight"});
      rules.push_back({handle.cluster.table.resources().of(Interned(member.key())),
                       one.text("type"), one.integer("weight", 0)});
      args.take(one);
    }
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return std::make_unique<FitPlus>(std::move(rules));
}

Result<std::unique_ptr<Plugin>> makeScarceResourceAvoidance(const json::Value& value,
                                                            PluginHandle handle) {
  Args args(value, "ScarceResourceAvoidanceArgs");
  args.only({"resources"});
  auto names = args.texts("resources");
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return std::make_unique<ScarceAvoidance>(handle.cluster, std::move(names));
}

}  // namespace mangrove::placement
