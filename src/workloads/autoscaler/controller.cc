// The glue between the caches and planAutoscaler: finds the target, its pods, and what they use.
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "workloads/autoscaler/autoscaler.h"
#include "workloads/controllers.h"
#include "workloads/over.h"

namespace mangrove::workloads {
namespace {

// A report that does not say over which span its figures were taken.
constexpr Duration kUsualSpan = std::chrono::minutes(5);
constexpr auto kTooOld = std::chrono::minutes(15);

class OfAutoscalers final : public Over<Autoscaler> {
 public:
  OfAutoscalers(const Caches& caches, std::shared_ptr<const UsageBoard> board)
      : Over(caches, caches.autoscalers, kAutoscaler), board_(std::move(board)) {}
  std::optional<Plan> plan(std::string_view key, std::string_view trouble, WallTime now) override {
    auto plan = Over::plan(key, trouble, now);
    if (!plan) histories_.erase(std::string(key));
    return plan;
  }

 private:
  Plan planFor(const Autoscaler& scaler, std::string raw, std::string_view, WallTime now) override {
    const std::string key = client::keyOf(scaler.meta.ns.view(), scaler.meta.name.view());
    const UsageOf usageOf = [this, now](const api::Pod& pod) { return usage(pod, now); };
    return planAutoscaler(scaler, targetOf(scaler), usageOf, histories_[key], std::move(raw), now);
  }

  ScaleView targetOf(const Autoscaler& scaler) const {
    const std::string& kind = scaler.target.kind;
    if (kind == "Deployment") return view(scaler, caches_.deployments, api::kind::kDeployment);
    if (kind == "ReplicaSet") return view(scaler, caches_.replicaSets, api::kind::kReplicaSet);
    if (kind == "StatefulSet") return view(scaler, caches_.statefulSets, api::kind::kStatefulSet);
    if (kind == "ReplicationController")
      return view(scaler, caches_.replicationControllers, api::kind::kReplicationController);
    ScaleView out;
    out.trouble = fmt::format(
        "{} {} cannot be scaled here, want a Deployment, ReplicaSet, StatefulSet or "
        "ReplicationController",
        kind, scaler.target.name);
    return out;
  }

  template <class T>
  ScaleView view(const Autoscaler& scaler, const client::Informer<T>& of,
                 const api::Kind& kind) const {
    const std::string ns(scaler.meta.ns.view());
    ScaleView out;
    out.ref = {kind, ns, scaler.target.name};
    const auto found = of.find(client::keyOf(ns, scaler.target.name));
    if (!found) {
      out.trouble = fmt::format("there is no {} {}/{}", kind.kind, ns, scaler.target.name);
      return out;
    }
    out.wanted = found->replicas;
    const api::Selector selector = selectorOf(found->selector);
    for (auto& pod : caches_.podsIn(ns)) {
      if (selector.matches(pod->meta.labels)) out.pods.push_back(std::move(pod));
    }
    out.present = static_cast<int32_t>(std::count_if(
        out.pods.begin(), out.pods.end(), [](const auto& pod) { return api::isActive(*pod); }));
    return out;
  }

  // The board of the node in this process knows most; of others there are reports.
  std::optional<Measured> usage(const api::Pod& pod, WallTime now) const {
    if (board_) {
      if (auto live = board_->of(pod.meta.ns.view(), pod.meta.name.view())) return live;
    }
    return reported(pod, now);
  }
  std::optional<Measured> reported(const api::Pod& pod, WallTime now) const {
    const auto report = caches_.metrics.find(pod.nodeName.view());
    if (!report || report->status.updateTime + kTooOld < now) return std::nullopt;
    for (const api::PodMetric& one : report->status.podsMetric) {
      if (one.name.view() != pod.meta.name.view() || one.ns.view() != pod.meta.ns.view()) continue;
      return Measured{one.podUsage.resources, {}, report->status.updateTime, spanOf(*report)};
    }
    return std::nullopt;
  }
  static Duration spanOf(const api::NodeMetric& report) {
    const auto& policy = report.spec.collectPolicy;
    if (!policy || !policy->aggregateDurationSeconds) return kUsualSpan;
    return std::chrono::seconds(*policy->aggregateDurationSeconds);
  }

  std::shared_ptr<const UsageBoard> board_;  // null: reports only
  std::map<std::string, History> histories_;
};

}  // namespace

std::unique_ptr<Controller> autoscalerController(const Caches& caches,
                                                 std::shared_ptr<const UsageBoard> board) {
  return std::make_unique<OfAutoscalers>(caches, std::move(board));
}

}  // namespace mangrove::workloads
