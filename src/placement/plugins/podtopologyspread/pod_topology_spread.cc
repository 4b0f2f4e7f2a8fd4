#include "placement/plugins/podtopologyspread/pod_topology_spread.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/core.h>

#include "placement/framework/args.h"
#include "placement/plugins/podtopologyspread/spread_part.h"

namespace mangrove::placement {

namespace {

// Services and owners of a class are looked up once per change of theirs.
struct SpreadLookup final : PlanData {
  mutable uint64_t asked = ~uint64_t{0};
};

class PodTopologySpread final : public Plugin, public ClusterWide {
 public:
  PodTopologySpread(Cluster& cluster, SpreadDefaults defaults)
      : cluster_(cluster), defaults_(std::move(defaults)) {}
  std::string_view name() const override { return "PodTopologySpread"; }
  ClusterWide* clusterWide() override { return this; }
  std::unique_ptr<PlanData> compile(const PodClass&) override {
    return std::make_unique<SpreadLookup>();
  }

  std::unique_ptr<ClusterPart> attach(const PodPlan& plan) override {
    const auto& lookup = plan.get<SpreadLookup>(slot());
    if (lookup.asked == cluster_.selectorGeneration) return nullptr;
    lookup.asked = cluster_.selectorGeneration;
    const SpreadPlan compiled = compileSpread(*plan.cls, defaults_, cluster_);
    if (compiled.hard.empty() && compiled.soft.empty()) return nullptr;
    return std::make_unique<SpreadPart>(cluster_, plan.cls, defaults_);
  }
  std::vector<std::string> reasons(const PodPlan&, uint32_t why) const override {
    std::string reason = "node(s) didn't match pod topology spread constraints";
    return {why == SpreadPart::kNoLabel ? reason + " (missing required label)" : reason};
  }

  uint32_t interests() const override {
    return bit(EventKind::kAssignedPodAdd) | bit(EventKind::kAssignedPodUpdate) |
           bit(EventKind::kAssignedPodDelete) | bit(EventKind::kNodeAdd) |
           bit(EventKind::kNodeUpdate) | bit(EventKind::kNodeDelete) | bit(EventKind::kPodUpdate);
  }
  Hint hint(const ClusterEvent& event, const PodInfo& pod) override {
    switch (event.kind) {
      case EventKind::kAssignedPodAdd:
      case EventKind::kAssignedPodUpdate:
      case EventKind::kAssignedPodDelete:
        return event.pod && event.pod->meta.ns == pod.cls->ns && counts(event, *pod.cls)
                   ? Hint::kQueue
                   : Hint::kSkip;
      case EventKind::kNodeUpdate:
        return event.actions & (action::kLabel | action::kTaint) ? Hint::kQueue : Hint::kSkip;
      case EventKind::kPodUpdate:
        return event.actions & (action::kLabel | action::kTolerations) ? Hint::kQueue : Hint::kSkip;
      default:
        return Hint::kQueue;
    }
  }

 private:
  // Whether the pod that came or went is one that the waiting pod's constraints count.
  bool counts(const ClusterEvent& event, const PodClass& cls) {
    if (hardOf_.size() > kRemembered) hardOf_.clear();
    const auto [at, isNew] = hardOf_.try_emplace(cls.id);
    if (isNew) at->second = compileSpread(cls, defaults_, cluster_).hard;
    return std::any_of(at->second.begin(), at->second.end(), [&](const Spread& rule) {
      return rule.selector.matches(event.pod->meta.labels) ||
             (event.podBefore && rule.selector.matches(event.podBefore->meta.labels));
    });
  }

  static constexpr size_t kRemembered = 1000;
  Cluster& cluster_;
  SpreadDefaults defaults_;
  std::unordered_map<uint32_t, std::vector<Spread>> hardOf_;  // by class, of waiting pods
};

}  // namespace

Result<std::unique_ptr<Plugin>> makePodTopologySpread(const json::Value& value,
                                                      PluginHandle handle) {
  Args args(value, "PodTopologySpreadArgs");
  args.only({"defaultConstraints", "defaultingType"});
  SpreadDefaults defaults;
  const std::string type = args.text("defaultingType", "System");
  if (type != "System" && type != "List")
    args.complain(fmt::format("defaultingType '{}': want System or List", type));
  defaults.system = type == "System";
  for (const auto& entry : args.list("defaultConstraints")) {
    auto constraint = api::decodeText<api::SpreadConstraint>(json::write(entry));
    if (!constraint) return constraint.error().in("defaultConstraints");
    if (constraint->selector)
      args.complain("defaultConstraints: labelSelector must be empty, it comes from services");
    defaults.list.push_back(std::move(*constraint));
  }
  if (defaults.system && !defaults.list.empty())
    args.complain("defaultConstraints: want none with defaultingType System");
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return std::make_unique<PodTopologySpread>(handle.cluster, std::move(defaults));
}

}  // namespace mangrove::placement
