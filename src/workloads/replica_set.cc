#include "workloads/replica_set.h"

#include <algorithm>

#include "api/select/selector.h"
#include "workloads/pods.h"

namespace mangrove::workloads {
namespace {

constexpr size_t kBurst = 500;  // creations or removals in one go

Pods activeOf(const Pods& pods) {
  Pods active;
  for (const auto& pod : pods)
    if (api::isActive(*pod)) active.push_back(pod);
  return active;
}

void scale(const api::Kind& kind, const ReplicaSet& set, Pods active, Plan& plan) {
  const auto wanted = static_cast<size_t>(std::max(0, set.replicas));
  if (active.size() < wanted) {
    auto pod = podFromTemplate(set.podTemplate.text, kind, set.meta);
    if (!pod) {
      plan.notes.push_back({true, "FailedCreate", pod.error().text()});
      return;
    }
    const size_t missing = std::min(wanted - active.size(), kBurst);
    for (size_t i = 0; i < missing; ++i)
      plan.create.push_back({api::kind::kPod, std::string(set.meta.ns.view()), *pod});
    return;
  }
  const size_t surplus = std::min(active.size() - wanted, kBurst);
  if (surplus == 0) return;
  sortForRemoval(active);
  for (size_t i = 0; i < surplus; ++i) plan.remove.push_back(removePod(*active[i]));
}

int32_t fullyLabelled(const ReplicaSet& set, const Pods& active) {
  auto parsed = json::parse(set.podTemplate.text);
  const json::Value* labels = nullptr;
  if (parsed && parsed->is_object())
    if (const auto* meta = parsed->get_object().if_contains("metadata"); meta && meta->is_object())
      labels = meta->get_object().if_contains("labels");
  if (!labels || !labels->is_object()) return static_cast<int32_t>(active.size());
  api::Labels wanted;
  for (const auto& [key, value] : labels->get_object())
    if (value.is_string()) wanted.set(key, std::string_view(value.get_string()));
  return static_cast<int32_t>(std::count_if(active.begin(), active.end(), [&](const auto& pod) {
    return api::contains(pod->meta.labels, wanted);
  }));
}

json::Object statusOf(const ReplicaSet& set, const Pods& active, int64_t terminating, WallTime now,
                      std::string_view trouble) {
  json::Object status;
  const auto ready =
      std::count_if(active.begin(), active.end(), [](const auto& pod) { return isReady(*pod); });
  const auto available = std::count_if(active.begin(), active.end(), [&](const auto& pod) {
    return isAvailable(*pod, set.minReadySeconds, now);
  });
  status["replicas"] = active.size();
  putCount(status, "fullyLabeledReplicas", fullyLabelled(set, active));
  putCount(status, "readyReplicas", ready);
  putCount(status, "availableReplicas", available);
  putCount(status, "terminatingReplicas", terminating);
  status["observedGeneration"] = set.meta.generation;
  auto conditions = set.conditions;
  if (trouble.empty())
    dropCondition(conditions, "ReplicaFailure");
  else
    setCondition(conditions,
                 {"ReplicaFailure", "True", "FailedCreate", std::string(trouble), {}, {}}, now);
  for (auto& condition : conditions) condition.lastUpdateTime = kZeroTime;  // not in this kind
  status["conditions"] = conditions.empty() ? json::Value() : conditionsJson(conditions);
  return status;
}

}  // namespace

Plan planReplicaSet(const api::Kind& kind, const ReplicaSet& set, const Pods& pods, std::string raw,
                    WallTime now, std::string_view trouble) {
  Plan plan;
  Pods active = activeOf(pods);
  const auto terminating = std::count_if(pods.begin(), pods.end(), [](const auto& pod) {
    return pod->meta.isDeleting() && !api::isTerminated(*pod);
  });
  for (const auto& pod : active) plan.lookAgainIn(untilAvailable(*pod, set.minReadySeconds, now));
  if (!set.meta.isDeleting()) scale(kind, set, active, plan);
  json::Object status = statusOf(set, active, terminating, now, trouble);
  if (kind == api::kind::kReplicationController) status.erase("terminatingReplicas");
  plan.change.push_back({{kind, std::string(set.meta.ns.view()), set.meta.name.str(), "status"},
                         client::PatchType::kMerge,
                         {{"status", std::move(status)}},
                         std::move(raw)});
  return plan;
}

}  // namespace mangrove::workloads
