#include "workloads/deployment_status.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text/strings.h"
#include "workloads/pods.h"

namespace mangrove::workloads {
namespace {

using std::chrono::seconds;

struct Counts {
  int32_t wanted = 0, replicas = 0, updated = 0, ready = 0, available = 0;
};

Counts countSets(const Sorted& sets) {
  Counts sum;
  auto add = [&](const ReplicaSet& set) {
    sum.wanted += set.replicas;
    sum.replicas += set.statusReplicas;
    sum.ready += set.ready;
    sum.available += set.available;
  };
  for (const auto& old : sets.old) add(*old.set);
  if (!sets.fresh) return sum;
  add(*sets.fresh->set);
  sum.updated = sets.fresh->set->statusReplicas;
  return sum;
}

bool moved(const Deployment& before, const Counts& now) {
  const int32_t oldBefore = before.statusReplicas - before.updated;
  return now.updated > before.updated || now.replicas - now.updated < oldBefore ||
         now.ready > before.ready || now.available > before.available;
}

WorkloadCondition availability(const Deployment& deployment, const Counts& counts,
                               const RolloutBounds& bounds) {
  if (counts.available >= deployment.replicas - bounds.unavailable)
    return {"Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.",
            {},          {}};
  return {"Available",
          "False",
          "MinimumReplicasUnavailable",
          "Deployment does not have minimum availability.",
          {},
          {}};
}

bool isTimedOut(const Deployment& deployment, const WorkloadCondition& progress, WallTime now) {
  if (progress.reason == "NewReplicaSetAvailable" || progress.status == "Unknown") return false;
  if (progress.reason == "ProgressDeadlineExceeded") return true;
  return progress.lastUpdateTime + seconds(deployment.progressDeadlineSeconds) < now;
}

void setProgress(std::vector<WorkloadCondition>& conditions, std::string_view status,
                 std::string_view reason, std::string message, WallTime now) {
  setCondition(
      conditions,
      {"Progressing", std::string(status), std::string(reason), std::move(message), {}, {}}, now);
}

// Progress that leaves the words alone still restarts the deadline.
void restartDeadline(std::vector<WorkloadCondition>& conditions, WallTime now) {
  for (auto& condition : conditions)
    if (condition.type == "Progressing") condition.lastUpdateTime = now;
}

void reportProgress(const Deployment& deployment, const Sorted& sets, const Counts& counts,
                    std::vector<WorkloadCondition>& conditions, WallTime now, Plan& plan) {
  const auto* progress = findCondition(conditions, "Progressing");
  if (deployment.paused)
    return setProgress(conditions, "Unknown", "DeploymentPaused", "Deployment is paused", now);
  if (progress && progress->reason == "DeploymentPaused")
    return setProgress(conditions, "Unknown", "DeploymentResumed", "Deployment is resumed", now);
  if (!sets.createdName.empty())
    return setProgress(conditions, "True", "NewReplicaSetCreated",
                       fmt::format("Created new replica set \"{}\"", sets.createdName), now);
  if (!sets.fresh) return;
  const std::string name = sets.fresh->set->meta.name.str();
  if (isComplete(deployment, sets))
    return setProgress(conditions, "True", "NewReplicaSetAvailable",
                       fmt::format("ReplicaSet \"{}\" has successfully progressed.", name), now);
  if (!progress)
    return setProgress(conditions, "True", "FoundNewReplicaSet",
                       fmt::format("Found new replica set \"{}\"", name), now);
  if (moved(deployment, counts)) {
    setProgress(conditions, "True", "ReplicaSetUpdated",
                fmt::format("ReplicaSet \"{}\" is progressing.", name), now);
    return restartDeadline(conditions, now);
  }
  if (progress->reason == "NewReplicaSetAvailable")  // complete before, and now not: a new rollout
    return setProgress(conditions, "True", "ReplicaSetUpdated",
                       fmt::format("ReplicaSet \"{}\" is progressing.", name), now);
  if (isTimedOut(deployment, *progress, now))
    return setProgress(conditions, "False", "ProgressDeadlineExceeded",
                       fmt::format("ReplicaSet \"{}\" has timed out progressing.", name), now);
  plan.lookAgainIn(progress->lastUpdateTime + seconds(deployment.progressDeadlineSeconds) - now +
                   seconds(1));
}

}  // namespace

int64_t revisionOf(const api::ObjectMeta& meta) {
  auto text = meta.annotations.get(kRevision);
  return text ? parseInt<int64_t>(*text).value_or(0) : 0;
}

Sorted sortSets(const Deployment& deployment, const std::vector<OwnedSet>& sets) {
  Sorted sorted;
  sorted.old = sets;
  std::sort(sorted.old.begin(), sorted.old.end(), [](const auto& a, const auto& b) {
    return std::pair(a.set->meta.creationTimestamp, a.set->meta.name.view()) <
           std::pair(b.set->meta.creationTimestamp, b.set->meta.name.view());
  });
  auto same = [&](const OwnedSet& owned) {
    return sameTemplate(owned.set->podTemplate.text, deployment.podTemplate.text, kTemplateHash);
  };
  auto at = std::find_if(sorted.old.begin(), sorted.old.end(), same);
  if (at != sorted.old.end()) {
    sorted.fresh = std::move(*at);
    sorted.old.erase(at);
  }
  for (const auto& old : sorted.old)
    sorted.nextRevision = std::max(sorted.nextRevision, revisionOf(old.set->meta) + 1);
  return sorted;
}

bool isComplete(const Deployment& deployment, const Sorted& sets) {
  const Counts counts = countSets(sets);
  return sets.fresh && counts.updated == deployment.replicas &&
         counts.replicas == deployment.replicas && counts.available == deployment.replicas &&
         sets.fresh->set->replicas == deployment.replicas;
}

void planDeploymentStatus(const Deployment& deployment, const Sorted& sets,
                          const RolloutBounds& bounds, std::string raw, WallTime now, Plan& plan) {
  const Counts counts = countSets(sets);
  auto conditions = deployment.conditions;
  setCondition(conditions, availability(deployment, counts, bounds), now);
  reportProgress(deployment, sets, counts, conditions, now, plan);
  json::Object status{{"observedGeneration", deployment.meta.generation}};
  putCount(status, "replicas", counts.replicas);
  putCount(status, "updatedReplicas", counts.updated);
  putCount(status, "readyReplicas", counts.ready);
  putCount(status, "availableReplicas", counts.available);
  putCount(status, "unavailableReplicas",
           std::max(0, std::max(counts.wanted, deployment.replicas) - counts.available));
  status["conditions"] = conditionsJson(conditions);
  plan.change.push_back({{api::kind::kDeployment, std::string(deployment.meta.ns.view()),
                          deployment.meta.name.str(), "status"},
                         client::PatchType::kMerge,
                         {{"status", std::move(status)}},
                         std::move(raw)});
}

}  // namespace mangrove::workloads
