#include <algorithm>

#include "api/wire/names.h"
#include "placement/plugins/noderesources/noderesources.h"
#include "placement/plugins/noderesources/scoring.h"

namespace mangrove::placement {

namespace {

// Bits of a refusal: kTooManyPods, one per requested resource in the order of the plan, and whether
// the node could never hold it.
constexpr uint32_t kTooManyPods = 1;
constexpr uint32_t kNever = uint32_t{1} << 31;
constexpr size_t kMaxBits = 29;

struct FitPlan final : PlanData {
  std::vector<Request> checked;
};

class Fit final : public Plugin, public NodeLocal {
 public:
  Fit(Cluster& cluster, ScoringStrategy strategy, std::vector<std::string> ignored,
      std::vector<std::string> groups)
      : cluster_(cluster),
        strategy_(std::move(strategy)),
        ignored_(std::move(ignored)),
        groups_(std::move(groups)) {}

  std::string_view name() const override { return "NodeResourcesFit"; }
  uint32_t interests() const override {
    return bit(EventKind::kPodUpdate) | bit(EventKind::kNodeAdd) | bit(EventKind::kNodeUpdate) |
           bit(EventKind::kAssignedPodDelete) | bit(EventKind::kAssignedPodUpdate);
  }
  NodeLocal* nodeLocal() override { return this; }

  std::unique_ptr<PlanData> compile(const PodClass& cls) override {
    auto plan = std::make_unique<FitPlan>();
    for (const Request& request : cls.requests.all)
      if (!isIgnored(cluster_.table.resources().name(request.id).view()))
        plan->checked.push_back(request);
    return plan;
  }

  bool filters(const PodPlan&) const override { return true; }
  void fits(const PodPlan& plan, const NodeTable& table, std::span<const Row> rows,
            Verdict* out) const override {
    const int32_t *count = table.podCount(), *limit = table.podLimit();
    for (size_t i = 0; i < rows.size(); i++)
      if (count[rows[i]] + 1 > limit[rows[i]]) out[i] = {Code::kUnschedulable, 0, kTooManyPods};
    const auto& checked = plan.get<FitPlan>(slot()).checked;
    for (size_t r = 0; r < checked.size(); r++) {
      const int64_t amount = checked[r].amount;
      const int64_t* have = table.allocatable(checked[r].id);
      const int64_t* used = table.requested(checked[r].id);
      for (size_t i = 0; i < rows.size(); i++) {
        const Row row = rows[i];
        if (amount <= have[row] - used[row]) continue;
        out[i].why |= uint32_t{2} << std::min(r, kMaxBits);
        const bool never = amount > have[row] || out[i].code == Code::kUnresolvable;
        out[i].code = never ? Code::kUnresolvable : Code::kUnschedulable;
        if (never) out[i].why |= kNever;
      }
    }
  }

  bool scores(const PodPlan&) const override { return true; }
  void score(const PodPlan& plan, const NodeTable& table, std::span<const Row> rows,
             int32_t* out) const override {
    const PodRequests& pod = plan.cls->requests;
    struct Term {
      const int64_t *have, *used;
      int64_t ask, weight;
    };
    std::vector<Term> terms;
    for (const auto& [id, weight] : strategy_.resources) {
      const int64_t* have = table.allocatable(id);
      if (id == kCpuId)
        terms.push_back({have, table.nonZeroCpu(), pod.nonZeroCpu, weight});
      else if (id == kMemoryId)
        terms.push_back({have, table.nonZeroMemory(), pod.nonZeroMemory, weight});
      else if (const int64_t ask = pod.amount(id); ask > 0 || id == kStorageId)
        terms.push_back({have, table.requested(id), ask, weight});
    }
    for (size_t i = 0; i < rows.size(); i++) {
      WeightedMean mean(strategy_);
      const Row row = rows[i];
      for (const Term& t : terms)
        if (t.have[row] != 0) mean.add(t.used[row] + t.ask, t.have[row], t.weight);
      out[i] = static_cast<int32_t>(mean.value());
    }
  }

  std::vector<std::string> reasons(const PodPlan& plan, uint32_t why) const override {
    std::vector<std::string> out;
    if (why & kTooManyPods) out.push_back("Too many pods");
    const auto& checked = plan.get<FitPlan>(slot()).checked;
    for (size_t r = 0; r < checked.size(); r++)
      if (why & (uint32_t{2} << std::min(r, kMaxBits)))
        out.push_back("Insufficient " + cluster_.table.resources().name(checked[r].id).str());
    return out;
  }

  Hint hint(const ClusterEvent& event, const PodInfo& pod) override {
    switch (event.kind) {
      case EventKind::kAssignedPodDelete:
        return Hint::kQueue;
      case EventKind::kAssignedPodUpdate:
      case EventKind::kPodUpdate:
        return event.actions & action::kScaleDown ? Hint::kQueue : Hint::kSkip;
      case EventKind::kNodeUpdate:
        if (!(event.actions & action::kAllocatable)) return Hint::kSkip;
        [[fallthrough]];
      case EventKind::kNodeAdd:
        return event.node && couldHold(*event.node, *pod.cls) ? Hint::kQueue : Hint::kSkip;
      default:
        return Hint::kSkip;
    }
  }

 private:
  bool isIgnored(std::string_view resource) const {
    if (!isExtended(resource)) return false;
    // Over how many cards a share is divided is no amount; DeviceShare looks at the cards.
    if (resource == api::resource::kGpuShared) return true;
    const std::string_view group = resource.substr(0, resource.find('/'));
    return std::find(ignored_.begin(), ignored_.end(), resource) != ignored_.end() ||
           std::find(groups_.begin(), groups_.end(), group) != groups_.end();
  }
  // Whether the empty node would be large enough.
  bool couldHold(const api::Node& node, const PodClass& cls) const {
    const api::ResourceList have = schedulableAmounts(node);
    return std::all_of(cls.requests.all.begin(), cls.requests.all.end(), [&](const Request& want) {
      const Interned name = cluster_.table.resources().name(want.id);
      return isIgnored(name.view()) || amountIn(want.id, have.amount(name.view())) >= want.amount;
    });
  }

  Cluster& cluster_;
  ScoringStrategy strategy_;
  std::vector<std::string> ignored_, groups_;
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeNodeResourcesFit(const json::Value& value,
                                                     PluginHandle handle) {
  Args args(value, "NodeResourcesFitArgs");
  args.only({"scoringStrategy", "ignoredResources", "ignoredResourceGroups"});
  auto ignored = args.texts("ignoredResources");
  auto groups = args.texts("ignoredResourceGroups");
  auto strategy =
      readStrategy(args.object("scoringStrategy"), args, handle.cluster.table.resources(), true);
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return std::make_unique<Fit>(handle.cluster, std::move(strategy), std::move(ignored),
                               std::move(groups));
}

}  // namespace mangrove::placement
