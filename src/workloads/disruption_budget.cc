#include "workloads/disruption_budget.h"

#include <algorithm>

#include "api/wire/write.h"
#include "workloads/objects.h"
#include "workloads/pods.h"

namespace mangrove::workloads {
namespace {

// An eviction that was granted and never came is forgotten after this long.
constexpr auto kEvictionBelief = std::chrono::minutes(2);

int32_t desiredHealthy(const api::PodDisruptionBudget& budget, int32_t expected) {
  if (budget.minAvailable) return scaled(budget.minAvailable, expected, true, 0);
  if (budget.maxUnavailable)
    return std::max(0, expected - scaled(budget.maxUnavailable, expected, true, 0));
  return expected;
}

bool isDoomed(const api::PodDisruptionBudget& budget, const api::Pod& pod, WallTime now) {
  auto at = budget.disruptedPods.find(pod.meta.name.str());
  return at != budget.disruptedPods.end() && at->second + kEvictionBelief > now;
}

// Evictions granted whose pods are still here untouched; the others are settled.
json::Value stillDisrupted(const api::PodDisruptionBudget& budget, const Pods& pods, WallTime now,
                           Plan& plan) {
  json::Object out;
  for (const auto& [name, since] : budget.disruptedPods) {
    out[name] = nullptr;
    for (const auto& pod : pods) {
      if (pod->meta.name.view() != name || pod->meta.isDeleting() || !isDoomed(budget, *pod, now))
        continue;
      out[name] = api::toJson(since);
      plan.lookAgainIn(since + kEvictionBelief - now);
    }
  }
  return out;
}

api::Condition allowedCondition(int32_t allowed, int32_t expected, int64_t generation) {
  api::Condition condition;
  condition.type = Interned("DisruptionAllowed");
  condition.status = allowed > 0 ? api::Truth::kTrue : api::Truth::kFalse;
  condition.reason = Interned(allowed > 0 || expected == 0 ? "SufficientPods" : "InsufficientPods");
  condition.observedGeneration = static_cast<int32_t>(generation);
  return condition;
}

}  // namespace

Plan planBudget(const api::PodDisruptionBudget& budget, const Pods& pods, int32_t expected,
                std::string raw, WallTime now) {
  Plan plan;
  if (budget.meta.isDeleting()) return plan;
  const auto healthy =
      static_cast<int32_t>(std::count_if(pods.begin(), pods.end(), [&](const auto& pod) {
        return api::isActive(*pod) && isReady(*pod) && !isDoomed(budget, *pod, now);
      }));
  const int32_t desired = desiredHealthy(budget, expected);
  const int32_t allowed = expected > 0 ? std::max(0, healthy - desired) : 0;
  api::Condition condition = allowedCondition(allowed, expected, budget.meta.generation);
  const auto* present = api::findCondition(budget.conditions, "DisruptionAllowed");
  condition.lastTransitionTime =
      present && present->status == condition.status ? present->lastTransitionTime : now;
  json::Object status{{"observedGeneration", budget.meta.generation},
                      {"disruptionsAllowed", allowed},
                      {"currentHealthy", healthy},
                      {"desiredHealthy", desired},
                      {"expectedPods", expected},
                      {"conditions", json::Array{api::toJson(condition)}}};
  status["conditions"].get_array()[0].get_object()["message"] = "";
  if (!budget.disruptedPods.empty())
    status["disruptedPods"] = stillDisrupted(budget, pods, now, plan);
  plan.change.push_back(
      {{api::kind::kPodDisruptionBudget, std::string(budget.meta.ns.view()), budget.meta.name.str(),
        "status"},
       client::PatchType::kMerge,
       {{"metadata", json::Object{{"resourceVersion", budget.meta.resourceVersion}}},
        {"status", std::move(status)}},
       std::move(raw)});
  return plan;
}

}  // namespace mangrove::workloads
