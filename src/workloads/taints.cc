#include "workloads/taints.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/wire/write.h"

namespace mangrove::workloads {
namespace {

// How long a pod endures the node's taints; nullopt: for ever.
std::optional<Duration> patience(const api::Node& node, const api::Pod& pod) {
  std::optional<Duration> least;
  for (const auto& taint : node.spec.taints) {
    if (taint.effect != api::TaintEffect::kNoExecute) continue;
    if (!api::tolerates(pod.spec->tolerations, taint)) return Duration::zero();
    for (const auto& toleration : pod.spec->tolerations) {
      if (!toleration.seconds || !api::tolerates(toleration, taint)) continue;
      const Duration time = std::chrono::seconds(std::max<int64_t>(0, *toleration.seconds));
      least = std::min(least.value_or(time), time);
    }
  }
  return least;
}

void evict(const api::Pod& pod, WallTime now, Plan& plan) {
  json::Object condition{{"type", "DisruptionTarget"},
                         {"status", "True"},
                         {"reason", "DeletionByTaintManager"},
                         {"message", "Taint manager: deleting due to NoExecute taint"},
                         {"lastTransitionTime", api::toJson(now)}};
  plan.change.push_back(
      {{api::kind::kPod, std::string(pod.meta.ns.view()), pod.meta.name.str(), "status"},
       client::PatchType::kStrategic,
       {{"metadata", json::Object{{"uid", pod.meta.uid.str()}}},
        {"status", json::Object{{"conditions", json::Array{std::move(condition)}}}}},
       ""});
  plan.remove.push_back(removePod(pod));
  plan.notes.push_back(
      {false, "TaintManagerEviction",
       fmt::format("Marking for deletion Pod {}/{}", pod.meta.ns.view(), pod.meta.name.view())});
}

}  // namespace

bool drivesPodsAway(const api::Node& node) {
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(), [](const auto& taint) {
    return taint.effect == api::TaintEffect::kNoExecute;
  });
}

Plan planTaints(const api::Node& node, const Pods& pods, TaintedSince& since, WallTime now) {
  Plan plan;
  TaintedSince still;
  for (const auto& pod : pods) {
    const auto time = patience(node, *pod);
    if (!drivesPodsAway(node) || !time || pod->meta.isDeleting() || api::isMirror(*pod)) continue;
    const std::string uid = pod->meta.uid.str();
    const auto known = since.find(uid);
    const WallTime start = known == since.end() ? now : known->second;
    const WallTime due = start + std::chrono::duration_cast<WallTime::duration>(*time);
    if (due <= now) {
      evict(*pod, now, plan);
      continue;
    }
    still.emplace(uid, start);
    plan.lookAgainIn(due - now);
  }
  since = std::move(still);
  return plan;
}

}  // namespace mangrove::workloads
