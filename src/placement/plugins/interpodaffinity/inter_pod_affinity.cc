#include "placement/plugins/interpodaffinity/inter_pod_affinity.h"

#include <algorithm>

#include <fmt/core.h>

#include "placement/framework/args.h"
#include "placement/plugins/interpodaffinity/affinity_part.h"

namespace mangrove::placement {

namespace {

class InterPodAffinity final : public Plugin, public ClusterWide {
 public:
  InterPodAffinity(Cluster& cluster, InterPodAffinityArgs args) : cluster_(cluster), args_(args) {}
  std::string_view name() const override { return "InterPodAffinity"; }
  ClusterWide* clusterWide() override { return this; }

  std::unique_ptr<ClusterPart> attach(const PodPlan& plan) override {
    if (!plan.cls->hasTerms() && cluster_.table.podsWithTerms() == 0) return nullptr;
    return std::make_unique<AffinityPart>(cluster_, plan.cls, args_);
  }
  std::vector<std::string> reasons(const PodPlan&, uint32_t why) const override {
    if (why == AffinityPart::kAffinity) return {"node(s) didn't match pod affinity rules"};
    if (why == AffinityPart::kAntiAffinity) return {"node(s) didn't match pod anti-affinity rules"};
    return {"node(s) didn't satisfy existing pods anti-affinity rules"};
  }

  uint32_t interests() const override {
    return bit(EventKind::kAssignedPodAdd) | bit(EventKind::kAssignedPodUpdate) |
           bit(EventKind::kAssignedPodDelete) | bit(EventKind::kNodeAdd) |
           bit(EventKind::kNodeUpdate) | bit(EventKind::kPodUpdate);
  }
  Hint hint(const ClusterEvent& event, const PodInfo& pod) override {
    switch (event.kind) {
      case EventKind::kAssignedPodAdd:
      case EventKind::kAssignedPodUpdate:
        return wants(event, *pod.cls) ? Hint::kQueue : Hint::kSkip;
      case EventKind::kAssignedPodDelete:
        return wasInTheWay(event, *pod.cls) ? Hint::kQueue : Hint::kSkip;
      case EventKind::kNodeUpdate:
      case EventKind::kPodUpdate:
        return event.actions & action::kLabel ? Hint::kQueue : Hint::kSkip;
      default:
        return Hint::kQueue;
    }
  }

 private:
  bool matchesAny(const std::vector<PodTerm>& terms, const PodClass& other) const {
    return std::any_of(terms.begin(), terms.end(), [&](const PodTerm& term) {
      return term.matches(other, cluster_.namespaces);
    });
  }
  bool wants(const ClusterEvent& event, const PodClass& cls) const {
    return event.pod && matchesAny(cls.requiredAffinity, *cluster_.classes.of(*event.pod));
  }
  bool wasInTheWay(const ClusterEvent& event, const PodClass& cls) const {
    if (!event.pod) return true;
    const ClassPtr other = cluster_.classes.of(*event.pod);
    return matchesAny(cls.requiredAntiAffinity, *other) ||
           matchesAny(other->requiredAntiAffinity, cls);
  }

  Cluster& cluster_;
  InterPodAffinityArgs args_;
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeInterPodAffinity(const json::Value& value,
                                                     PluginHandle handle) {
  Args args(value, "InterPodAffinityArgs");
  args.only({"hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"});
  const int64_t weight = args.integer("hardPodAffinityWeight", 1);
  if (weight < 0 || weight > 100)
    args.complain(fmt::format("hardPodAffinityWeight: {} is not in 0..100", weight));
  InterPodAffinityArgs out;
  out.hardPodAffinityWeight = static_cast<int32_t>(weight);
  out.ignorePreferredTermsOfExistingPods =
      args.boolean("ignorePreferredTermsOfExistingPods", false);
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return std::make_unique<InterPodAffinity>(handle.cluster, out);
}

}  // namespace mangrove::placement
