#include "workloads/deployment.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/wire/write.h"
#include "base/text/strings.h"
#include "workloads/deployment_status.h"
#include "workloads/pods.h"
#include "workloads/rollout.h"

namespace mangrove::workloads {
namespace {

constexpr std::string_view kDesired = "deployment.kubernetes.io/desired-replicas";
constexpr std::string_view kCeiling = "deployment.kubernetes.io/max-replicas";
constexpr std::string_view kHistory = "deployment.kubernetes.io/revision-history";
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

int32_t annotatedCount(const api::ObjectMeta& meta, std::string_view key) {
  auto text = meta.annotations.get(key);
  return text ? parseInt<int32_t>(*text).value_or(-1) : -1;
}

// What changes from step to step while one deployment is planned.
struct Rollout {
  const Deployment& deployment;
  Sorted sets;
  Plan plan;
  RolloutGoal goal;
  const Pods& pods;
};

client::Ref refTo(const ReplicaSet& set) {
  return {api::kind::kReplicaSet, std::string(set.meta.ns.view()), set.meta.name.str()};
}

json::Object sizeAnnotations(const RolloutGoal& goal) {
  return {{kDesired, std::to_string(goal.replicas)},
          {kCeiling, std::to_string(goal.replicas + goal.surge)}};
}

// True when the size changes; the annotations are kept true either way.
bool resize(Rollout& rollout, const OwnedSet& owned, int32_t size) {
  const ReplicaSet& set = *owned.set;
  const bool changes = set.replicas != size;
  json::Object body{{"metadata", json::Object{{"annotations", sizeAnnotations(rollout.goal)}}}};
  if (changes) body["spec"] = json::Object{{"replicas", size}};
  rollout.plan.change.push_back(
      {refTo(set), client::PatchType::kMerge, std::move(body), owned.raw});
  if (changes)
    rollout.plan.notes.push_back(
        {false, "ScalingReplicaSet",
         fmt::format("Scaled {} replica set {} from {} to {}", size > set.replicas ? "up" : "down",
                     set.meta.name.view(), set.replicas, size)});
  return changes;
}

json::Object inheritedAnnotations(const Deployment& deployment) {
  json::Object out;
  for (const auto& [key, value] : deployment.meta.annotations) {
    const std::string_view name = key.view();
    if (name == kLastApplied || name.starts_with("deployment.kubernetes.io/")) continue;
    out[name] = value.view();
  }
  return out;
}

json::Object setBody(const Rollout& rollout, json::Object podTemplate, const std::string& hash,
                     int32_t size) {
  const Deployment& deployment = rollout.deployment;
  sub(sub(podTemplate, "metadata"), "labels")[kTemplateHash] = hash;
  json::Object selector;
  json::Object spec{{"replicas", size}, {"minReadySeconds", deployment.minReadySeconds}};
  if (deployment.selector) selector = api::toJson(*deployment.selector).get_object();
  sub(selector, "matchLabels")[kTemplateHash] = hash;
  json::Object annotations = inheritedAnnotations(deployment);
  for (auto& [key, value] : sizeAnnotations(rollout.goal)) annotations[key] = value;
  annotations[kRevision] = std::to_string(rollout.sets.nextRevision);
  json::Object meta{
      {"name", deployment.meta.name.str() + "-" + hash},
      {"namespace", deployment.meta.ns.view()},
      {"labels", podTemplate["metadata"].get_object()["labels"]},
      {"annotations", std::move(annotations)},
      {"ownerReferences", json::Array{ownerReference(api::kind::kDeployment, deployment.meta)}}};
  spec["selector"] = std::move(selector);
  spec["template"] = std::move(podTemplate);
  return {{"apiVersion", "apps/v1"},
          {"kind", "ReplicaSet"},
          {"metadata", std::move(meta)},
          {"spec", std::move(spec)}};
}

void createSet(Rollout& rollout, int32_t size) {
  const Deployment& deployment = rollout.deployment;
  auto podTemplate = json::parse(deployment.podTemplate.text);
  if (!podTemplate || !podTemplate->is_object()) return;
  const std::string hash = hashName(json::writeSorted(*podTemplate), deployment.collisionCount);
  rollout.plan.create.push_back(
      {api::kind::kReplicaSet, std::string(deployment.meta.ns.view()),
       setBody(rollout, std::move(podTemplate->get_object()), hash, size)});
  rollout.sets.createdName = deployment.meta.name.str() + "-" + hash;
  if (size > 0)
    rollout.plan.notes.push_back(
        {false, "ScalingReplicaSet",
         fmt::format("Scaled up replica set {} from 0 to {}", rollout.sets.createdName, size)});
}

// The set of the present template carries the highest revision: after an undo an old one climbs.
void keepRevision(Rollout& rollout) {
  const auto& fresh = rollout.sets.fresh;
  if (!fresh) return;
  const int64_t present = revisionOf(fresh->set->meta);
  int64_t revision = present;
  if (present < rollout.sets.nextRevision) {
    revision = rollout.sets.nextRevision;
    json::Object annotations{{kRevision, std::to_string(revision)}};
    auto history = fresh->set->meta.annotations.get(kHistory);
    if (present > 0)
      annotations[kHistory] =
          history ? fmt::format("{},{}", *history, present) : std::to_string(present);
    rollout.plan.change.push_back(
        {refTo(*fresh->set),
         client::PatchType::kMerge,
         {{"metadata", json::Object{{"annotations", std::move(annotations)}}}},
         fresh->raw});
  }
  rollout.sets.shownRevision = revision;
}

RolloutSets sizes(const Sorted& sets) {
  auto one = [](const OwnedSet& owned) {
    return SetSize{owned.set->replicas, owned.set->available,
                   annotatedCount(owned.set->meta, kDesired),
                   annotatedCount(owned.set->meta, kCeiling)};
  };
  RolloutSets out;
  if (sets.fresh) out.fresh = one(*sets.fresh);
  for (const auto& owned : sets.old) out.old.push_back(one(owned));
  return out;
}

bool wasResized(const RolloutSets& sets, int32_t replicas) {
  auto outdated = [&](const SetSize& set) {
    return set.wanted > 0 && set.sizedFor >= 0 && set.sizedFor != replicas;
  };
  return outdated(sets.fresh) || std::any_of(sets.old.begin(), sets.old.end(), outdated);
}

void applySizes(Rollout& rollout, const std::vector<int32_t>& to) {
  if (rollout.sets.fresh) resize(rollout, *rollout.sets.fresh, to[0]);
  for (size_t i = 0; i < rollout.sets.old.size(); ++i) {
    const auto& old = rollout.sets.old[i];
    if (old.set->replicas != 0 || to[i + 1] != 0) resize(rollout, old, to[i + 1]);
  }
}

void rollingUpdate(Rollout& rollout) {
  if (!rollout.sets.fresh) {
    int32_t others = 0;
    for (const auto& old : rollout.sets.old) others += old.set->replicas;
    return createSet(rollout, firstSize(others, rollout.goal));
  }
  applySizes(rollout, rollingStep(sizes(rollout.sets), rollout.goal));
}

bool oldPodsRun(const Rollout& rollout) {
  return std::any_of(rollout.pods.begin(), rollout.pods.end(), [&](const auto& pod) {
    const auto* owner = pod->meta.controller();
    const bool ofFresh =
        rollout.sets.fresh && owner && owner->uid == rollout.sets.fresh->set->meta.uid;
    return !ofFresh && !api::isTerminated(*pod);
  });
}

void recreate(Rollout& rollout) {
  bool shrunk = false;
  for (const auto& old : rollout.sets.old)
    if (old.set->replicas > 0) shrunk |= resize(rollout, old, 0);
  if (shrunk || oldPodsRun(rollout)) return;
  if (!rollout.sets.fresh)
    createSet(rollout, rollout.goal.replicas);
  else
    resize(rollout, *rollout.sets.fresh, rollout.goal.replicas);
}

void forgetHistory(Rollout& rollout) {
  std::vector<const OwnedSet*> empty;
  for (const auto& old : rollout.sets.old) {
    const ReplicaSet& set = *old.set;
    if (set.replicas == 0 && set.statusReplicas == 0 && !set.meta.isDeleting())
      empty.push_back(&old);
  }
  const auto keep = static_cast<size_t>(std::max(0, rollout.deployment.revisionHistoryLimit));
  if (empty.size() <= keep) return;
  std::sort(empty.begin(), empty.end(), [](const auto* a, const auto* b) {
    return revisionOf(a->set->meta) < revisionOf(b->set->meta);
  });
  for (size_t i = 0; i < empty.size() - keep; ++i) {
    Removal removal{refTo(*empty[i]->set), {}};
    removal.options.uid = empty[i]->set->meta.uid;
    rollout.plan.remove.push_back(std::move(removal));
  }
}

void move(Rollout& rollout) {
  const RolloutSets now = sizes(rollout.sets);
  if (rollout.deployment.paused || wasResized(now, rollout.goal.replicas))
    return applySizes(rollout, proportionalStep(now, rollout.goal));
  if (rollout.deployment.strategy == "Recreate") return recreate(rollout);
  rollingUpdate(rollout);
}

}  // namespace

RolloutBounds rolloutBounds(const Deployment& deployment) {
  if (deployment.strategy == "Recreate") return {0, 0};
  RolloutBounds bounds{scaled(deployment.maxSurge, deployment.replicas, true, 0),
                       scaled(deployment.maxUnavailable, deployment.replicas, false, 0)};
  if (bounds.surge == 0 && bounds.unavailable == 0) bounds.unavailable = 1;
  bounds.unavailable = std::min(bounds.unavailable, deployment.replicas);
  return bounds;
}

Plan planDeployment(const Deployment& deployment, const std::vector<OwnedSet>& sets,
                    const Pods& pods, std::string raw, WallTime now) {
  const RolloutBounds bounds = rolloutBounds(deployment);
  Rollout rollout{deployment,
                  sortSets(deployment, sets),
                  {},
                  {deployment.replicas, bounds.surge, bounds.unavailable},
                  pods};
  if (!deployment.meta.isDeleting()) {
    keepRevision(rollout);
    move(rollout);
    if (isComplete(deployment, rollout.sets)) forgetHistory(rollout);
  }
  if (rollout.sets.shownRevision > 0)
    rollout.plan.change.push_back(
        {{api::kind::kDeployment, std::string(deployment.meta.ns.view()),
          deployment.meta.name.str()},
         client::PatchType::kMerge,
         {{"metadata",
           json::Object{{"annotations",
                         json::Object{{kRevision, std::to_string(rollout.sets.shownRevision)}}}}}},
         raw});
  planDeploymentStatus(deployment, rollout.sets, bounds, std::move(raw), now, rollout.plan);
  return std::move(rollout.plan);
}

}  // namespace mangrove::workloads
