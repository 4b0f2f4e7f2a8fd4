#include "placement/plugins/loadaware/load_aware.h"

#include <algorithm>
#include <unordered_map>

#include "api/wire/write.h"
#include "base/text/time_text.h"
#include "placement/plugins/loadaware/load.h"

namespace mangrove::placement {

namespace {

bool isZero(const LoadVector& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 0; });
}

struct LoadPlan final : PlanData {
  LoadVector estimate;
};

// What is known about one node, kept ready for the next question.
struct NodeLoad {
  LoadReport report;
  NodeThresholds thresholds;
  LoadVector allocatable;
  std::vector<AssignedPod> pods;
  std::vector<api::Uid> uids;  // of pods, in the same order
  LoadSums sums;
  bool expired = false;
  bool stale = false;
};

class LoadAware final : public Plugin, public NodeLocal, public ClusterListener {
 public:
  LoadAware(PluginHandle handle, LoadArgs args)
      : cluster_(handle.cluster), clock_(handle.clock), args_(std::move(args)) {}
  std::string_view name() const override { return "LoadAwareScheduling"; }
  NodeLocal* nodeLocal() override { return this; }
  ClusterListener* listener() override { return this; }

  std::unique_ptr<PlanData> compile(const PodClass& cls) override {
    auto plan = std::make_unique<LoadPlan>();
    plan->estimate = estimateOf(cls);
    return plan;
  }

  bool filters(const PodPlan& plan) const override { return !plan.cls->isDaemon; }
  void fits(const PodPlan& plan, const NodeTable&, std::span<const Row> rows,
            Verdict* out) const override {
    for (size_t i = 0; i < rows.size(); i++) {
      const LoadVerdict verdict = filterLoad(args_, question(plan, rows[i]));
      if (verdict.kind == LoadVerdict::Kind::kPass) continue;
      out[i] = {Code::kUnschedulable, 0,
                static_cast<uint32_t>(verdict.kind) | static_cast<uint32_t>(verdict.resource) << 8};
    }
  }
  bool scores(const PodPlan&) const override { return true; }
  void score(const PodPlan& plan, const NodeTable&, std::span<const Row> rows,
             int32_t* out) const override {
    for (size_t i = 0; i < rows.size(); i++)
      out[i] = static_cast<int32_t>(scoreLoad(args_, question(plan, rows[i])));
  }
  std::vector<std::string> reasons(const PodPlan&, uint32_t why) const override {
    return {LoadVerdict{static_cast<LoadVerdict::Kind>(why & 0xFF), why >> 8}.reason(args_)};
  }

  uint32_t interests() const override {
    return bit(EventKind::kAssignedPodDelete) | bit(EventKind::kNodeMetric) |
           bit(EventKind::kNodeAdd) | bit(EventKind::kNodeUpdate);
  }
  // A report wakes only pods that its node could take now.
  Hint hint(const ClusterEvent& event, const PodInfo& pod) override {
    if (event.kind == EventKind::kAssignedPodDelete) return Hint::kQueue;
    if (event.row == kNoRow || event.row >= nodes_.size()) return Hint::kQueue;
    const LoadVector own = estimateOf(*pod.cls);
    const LoadQuestion q = questionFor(own, *pod.cls, event.row);
    return filterLoad(args_, q).kind == LoadVerdict::Kind::kPass ? Hint::kQueue : Hint::kSkip;
  }

  // ---- what happens on nodes
  void podAdded(const PodInfo& pod, Row row, bool trial) override {
    if (trial || pod.isStandIn) return;  // room that is reserved uses nothing
    NodeLoad& node = at(row);
    node.pods.push_back(
        assignedPod(args_, *pod.pod, clock_.wall(), estimateOf(*pod.cls), pod.cls->band));
    node.uids.push_back(pod.pod->meta.uid);
    addTo(node.sums, node.report, node.pods.back());
  }
  void podRemoved(const PodInfo& pod, Row row, bool trial) override {
    if (trial) return;
    NodeLoad& node = at(row);
    const auto found = std::find(node.uids.begin(), node.uids.end(), pod.pod->meta.uid);
    if (found == node.uids.end()) return;
    node.pods.erase(node.pods.begin() + (found - node.uids.begin()));
    node.uids.erase(found);
    node.sums = sumUp(args_, node.report, node.pods);
  }
  // Kept aside with its times: put back it counts as before.
  void podTakenAway(const PodInfo& pod, Row row) override {
    NodeLoad& node = at(row);
    const auto found = std::find(node.uids.begin(), node.uids.end(), pod.pod->meta.uid);
    if (found == node.uids.end()) return;
    const auto slot = node.pods.begin() + (found - node.uids.begin());
    aside_.insert_or_assign(pod.pod->meta.uid, std::move(*slot));
    node.pods.erase(slot);
    node.uids.erase(found);
    node.sums = sumUp(args_, node.report, node.pods);
  }
  void podPutBack(const PodInfo& pod, Row row) override {
    auto kept = aside_.extract(pod.pod->meta.uid);
    if (kept.empty()) return;
    NodeLoad& node = at(row);
    node.pods.push_back(std::move(kept.mapped()));
    node.uids.push_back(pod.pod->meta.uid);
    addTo(node.sums, node.report, node.pods.back());
  }
  void podUpdated(const PodInfo& pod, Row row) override {
    NodeLoad& node = at(row);
    const auto found = std::find(node.uids.begin(), node.uids.end(), pod.pod->meta.uid);
    if (found == node.uids.end()) return;
    AssignedPod& slot = node.pods[static_cast<size_t>(found - node.uids.begin())];
    const bool before = needsEstimate(node.report, slot);
    setTimes(args_, *pod.pod, slot.scheduledAt, slot);
    // The answer to our own binding brings another time, which matters to pods that are measured.
    if (needsEstimate(node.report, slot) == before) return;
    node.sums = sumUp(args_, node.report, node.pods);
    cluster_.table.touch(row);
  }
  void nodeChanged(Row row) override {
    NodeLoad& node = at(row);
    node.thresholds = thresholdsFor(args_, cluster_.table.node(row).meta.annotations);
    node.allocatable = loadAllocatable(args_, cluster_.table.node(row));
    if (!node.report.exists) readMetric(row);
  }
  void nodeGone(Row row) override { at(row) = NodeLoad(); }
  void metricChanged(Row row) override {
    readMetric(row);
    cluster_.table.touch(row);
  }

  void tick(WallTime now) override {
    for (Row row = 0; row < nodes_.size(); row++) {
      NodeLoad& node = nodes_[row];
      const bool expired = node.report.exists && isExpired(args_, node.report, now);
      const bool stale = node.report.exists && isStale(args_, node.report, now);
      if (expired == node.expired && stale == node.stale) continue;
      node.expired = expired;
      node.stale = stale;
      cluster_.table.touch(row);
    }
  }

  std::optional<json::Value> serve(std::string_view path) override;

 private:
  NodeLoad& at(Row row) {
    if (row >= nodes_.size()) nodes_.resize(row + 1);
    NodeLoad& node = nodes_[row];
    if (node.allocatable.empty()) {
      node.allocatable.resize(args_.resources.size());
      node.sums = sumUp(args_, node.report, node.pods);
      node.thresholds = thresholdsFor(args_, {});
    }
    return node;
  }
  // Most pods are of the class that was asked for last.
  const LoadVector& estimateOf(const PodClass& cls) {
    if (estimatedClass_ != cls.id)
      estimate_ = estimate(args_, *cls.spec, cls.band, cls.annotations);
    estimatedClass_ = cls.id;
    return estimate_;
  }
  void readMetric(Row row) {
    NodeLoad& node = at(row);
    const auto metric = cluster_.nodeMetrics.find(cluster_.table.info(row).name.view());
    node.report = metric ? reportOf(args_, *metric) : LoadReport();
    node.expired = node.report.exists && isExpired(args_, node.report, clock_.wall());
    node.stale = node.report.exists && isStale(args_, node.report, clock_.wall());
    node.sums = sumUp(args_, node.report, node.pods);
  }
  LoadQuestion questionFor(const LoadVector& own, const PodClass& cls, Row row) const {
    const NodeLoad& node = nodes_[row];
    return {node.thresholds,  node.report,  node.sums,
            node.allocatable, own,          cls.band == api::PriorityBand::kProd,
            cls.isDaemon,     node.expired, node.stale};
  }
  LoadQuestion question(const PodPlan& plan, Row row) const {
    return questionFor(plan.get<LoadPlan>(slot()).estimate, *plan.cls, row);
  }
  json::Object named(const LoadVector& values) const {
    json::Object out;
    for (size_t i = 0; i < values.size(); i++) out[args_.resources[i].view()] = values[i];
    return out;
  }

  Cluster& cluster_;
  Clock& clock_;
  LoadArgs args_;
  std::vector<NodeLoad> nodes_;
  std::unordered_map<api::Uid, AssignedPod> aside_;  // taken away by a transaction
  std::optional<uint64_t> estimatedClass_;           // of estimate_
  LoadVector estimate_;
};

std::optional<json::Value> LoadAware::serve(std::string_view path) {
  constexpr std::string_view kNode = "node/";
  if (!path.starts_with(kNode)) return std::nullopt;
  const Row row = cluster_.table.find(path.substr(kNode.size()));
  if (row == kNoRow || row >= nodes_.size()) return json::Object();
  const NodeLoad& node = nodes_[row];
  std::vector<const AssignedPod*> pods;
  for (const auto& pod : node.pods) pods.push_back(&pod);
  std::map<std::string, const AssignedPod*> names;  // sorted
  for (const auto& pod : node.pods) names[pod.key] = &pod;
  std::sort(pods.begin(), pods.end(),
            [](auto* a, auto* b) { return a->scheduledAt < b->scheduledAt; });
  json::Array list;
  for (const auto* pod : pods)
    list.push_back(json::Object{{"timestamp", formatTime(pod->scheduledAt)},
                                {"pod", pod->key},
                                {"estimated", named(pod->estimate)}});
  json::Array nodeDelta, prodDelta, estimated;
  for (const auto& pod : names) {
    const AssignedPod& one = *pod.second;
    estimated.emplace_back(one.key);
    const LoadSums alone = sumUp(args_, node.report, {one});
    if (!isZero(alone.nodeDelta)) nodeDelta.emplace_back(one.key);
    if (!isZero(alone.prodDelta)) prodDelta.emplace_back(one.key);
  }
  return json::Object{{"pods", list},
                      {"nodeDeltaPods", nodeDelta},
                      {"prodDeltaPods", prodDelta},
                      {"nodeEstimatedPods", estimated},
                      {"prodUsage", named(node.sums.prodUsage)},
                      {"nodeDelta", named(node.sums.nodeDelta)},
                      {"prodDelta", named(node.sums.prodDelta)},
                      {"nodeEstimated", named(node.sums.nodeEstimated)}};
}

}  // namespace

Result<std::unique_ptr<Plugin>> makeLoadAware(const json::Value& value, PluginHandle handle) {
  auto args = readLoadArgs(value);
  if (!args) return pass(args.error());
  return std::make_unique<LoadAware>(handle, std::move(*args));
}

}  // namespace mangrove::placement
