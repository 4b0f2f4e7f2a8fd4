#include "workloads/stateful_set.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/text/strings.h"
#include "workloads/pods.h"

namespace mangrove::workloads {
namespace {

using PodPtr = std::shared_ptr<const api::Pod>;

struct Ordered {
  const StatefulSet& set;
  const Revisions& revisions;
  WallTime now;
  std::map<int32_t, PodPtr> pods;
  std::string current, update;  // revision names
  Plan plan;

  int32_t first() const { return set.firstOrdinal; }
  int32_t end() const { return set.firstOrdinal + std::max(0, set.replicas); }
  bool parallel() const { return set.podManagement == "Parallel"; }
};

std::string_view revisionOf(const api::Pod& pod) {
  return pod.meta.labels.get(kRevisionHash).value_or("");
}

bool isHealthy(const Ordered& work, const api::Pod& pod) {
  return !pod.meta.isDeleting() && isAvailable(pod, work.set.minReadySeconds, work.now);
}

// The revision a pod of this place is made of: places below the partition keep the old one.
const std::string& revisionFor(const Ordered& work, int32_t ordinal) {
  const bool rolling = work.set.updateStrategy == "RollingUpdate";
  if (rolling && ordinal < work.set.partition && !work.current.empty()) return work.current;
  return work.update;
}

bool isOutdated(const Ordered& work, int32_t ordinal, const api::Pod& pod) {
  return work.set.updateStrategy == "RollingUpdate" && ordinal >= work.set.partition &&
         revisionOf(pod) != work.update;
}

std::string claimName(std::string_view claim, std::string_view pod) {
  return fmt::format("{}-{}", claim, pod);
}

void dropVolume(json::Array& volumes, const json::Value& name) {
  for (auto at = volumes.begin(); at != volumes.end();) {
    const auto* known = at->is_object() ? at->get_object().if_contains("name") : nullptr;
    at = known && *known == name ? volumes.erase(at) : at + 1;
  }
}

// The pod's volumes that stand for claim templates point to the pod's own claims.
void mountClaims(const StatefulSet& set, const std::string& name, json::Object& pod) {
  json::Value& volumes = sub(pod, "spec")["volumes"];
  if (!volumes.is_array()) volumes.emplace_array();
  for (const auto& text : set.claimTemplates) {
    auto claim = json::parse(text.text);
    if (!claim || !claim->is_object()) continue;
    const json::Value& title = sub(claim->get_object(), "metadata")["name"];
    if (!title.is_string()) continue;
    auto& list = volumes.get_array();
    dropVolume(list, title);
    list.push_back({{"name", title},
                    {"persistentVolumeClaim",
                     json::Object{{"claimName", claimName(title.get_string(), name)}}}});
  }
}

json::Object ownerRef(const api::Kind& kind, const api::ObjectMeta& meta) {
  return {{"apiVersion", kind.apiVersion()},
          {"kind", kind.kind},
          {"name", meta.name.view()},
          {"uid", meta.uid.str()}};
}

// The claims of a pod that goes for good go with it: they become the pod's own.
void handOverClaims(Ordered& work, const api::Pod& pod) {
  if (work.set.claimsWhenScaled != "Delete") return;
  for (const auto& text : work.set.claimTemplates) {
    auto claim = json::parse(text.text);
    if (!claim || !claim->is_object()) continue;
    const json::Value& title = sub(claim->get_object(), "metadata")["name"];
    if (!title.is_string()) continue;
    work.plan.change.push_back(
        {{api::kind::kPersistentVolumeClaim, std::string(work.set.meta.ns.view()),
          claimName(title.get_string(), pod.meta.name.view()), ""},
         client::PatchType::kMerge,
         {{"metadata",
           json::Object{{"ownerReferences", json::Array{ownerRef(api::kind::kPod, pod.meta)}}}}},
         ""});
  }
}

// Claims outlive their pods: one that is there already answers "exists", which is as good.
void createClaims(Ordered& work, const std::string& pod) {
  for (const auto& text : work.set.claimTemplates) {
    auto claim = json::parse(text.text);
    if (!claim || !claim->is_object()) continue;
    json::Object& meta = sub(claim->get_object(), "metadata");
    if (!meta["name"].is_string()) continue;
    const std::string name = claimName(meta["name"].get_string(), pod);
    meta["name"] = name;
    meta["namespace"] = work.set.meta.ns.view();
    if (work.set.selector)
      for (const auto& [key, value] : work.set.selector->matchLabels)
        sub(meta, "labels")[key.view()] = value.view();
    if (work.set.claimsWhenDeleted == "Delete")
      meta["ownerReferences"] = json::Array{ownerRef(api::kind::kStatefulSet, work.set.meta)};
    claim->get_object()["apiVersion"] = "v1";
    claim->get_object()["kind"] = "PersistentVolumeClaim";
    claim->get_object().erase("status");
    work.plan.create.push_back({api::kind::kPersistentVolumeClaim,
                                std::string(work.set.meta.ns.view()),
                                std::move(claim->get_object())});
  }
}

void createPod(Ordered& work, int32_t ordinal) {
  const StatefulSet& set = work.set;
  const std::string& revision = revisionFor(work, ordinal);
  auto pod =
      podFromTemplate(templateOf(set, work.revisions, revision), api::kind::kStatefulSet, set.meta);
  if (!pod) return work.plan.notes.push_back({true, "FailedCreate", pod.error().text()});
  const std::string name = fmt::format("{}-{}", set.meta.name.view(), ordinal);
  json::Object& meta = sub(*pod, "metadata");
  meta.erase("generateName");
  meta["name"] = name;
  json::Object& labels = sub(meta, "labels");
  labels[kRevisionHash] = revision;
  labels["statefulset.kubernetes.io/pod-name"] = name;
  labels["apps.kubernetes.io/pod-index"] = std::to_string(ordinal);
  json::Object& spec = sub(*pod, "spec");
  spec["hostname"] = name;
  if (!set.serviceName.empty()) spec["subdomain"] = set.serviceName;
  if (!set.claimTemplates.empty()) mountClaims(set, name, *pod);
  createClaims(work, name);
  work.plan.create.push_back({api::kind::kPod, std::string(set.meta.ns.view()), std::move(*pod)});
}

// Pods above the wanted number go from the top; in order, one at a time. False: still waiting.
bool shrink(Ordered& work) {
  for (auto at = work.pods.rbegin(); at != work.pods.rend(); ++at) {
    const auto& [ordinal, pod] = *at;
    if (ordinal >= work.first() && ordinal < work.end()) continue;
    if (!pod->meta.isDeleting()) {
      handOverClaims(work, *pod);
      work.plan.remove.push_back(removePod(*pod));
    }
    if (!work.parallel()) return false;
  }
  return true;
}

// True when every place has a healthy pod; in order, one at a time.
bool fillPlaces(Ordered& work) {
  bool whole = true;
  for (int32_t ordinal = work.first(); ordinal < work.end(); ++ordinal) {
    auto at = work.pods.find(ordinal);
    if (at == work.pods.end()) {
      createPod(work, ordinal);
    } else if (api::isTerminated(*at->second) && !at->second->meta.isDeleting()) {
      work.plan.remove.push_back(removePod(*at->second));  // its name is needed again
    } else if (isHealthy(work, *at->second)) {
      continue;
    } else if (isOutdated(work, ordinal, *at->second) && !isReady(*at->second)) {
      // A broken pod of an old template must not block the update that mends it.
      if (!at->second->meta.isDeleting()) work.plan.remove.push_back(removePod(*at->second));
    } else {
      work.plan.lookAgainIn(untilAvailable(*at->second, work.set.minReadySeconds, work.now));
    }
    whole = false;
    if (!work.parallel()) return false;
  }
  return whole;
}

// Old pods are replaced from the top, the next one when its successor is healthy.
void roll(Ordered& work) {
  if (work.set.updateStrategy != "RollingUpdate") return;
  for (int32_t ordinal = work.end() - 1; ordinal >= std::max(work.first(), work.set.partition);
       --ordinal) {
    auto at = work.pods.find(ordinal);
    if (at == work.pods.end()) return;
    if (revisionOf(*at->second) != work.update) {
      if (!at->second->meta.isDeleting()) work.plan.remove.push_back(removePod(*at->second));
      return;
    }
    if (!isHealthy(work, *at->second)) return;
  }
}

json::Object statusOf(const Ordered& work) {
  int32_t ready = 0, available = 0, ofCurrent = 0, ofUpdate = 0;
  for (const auto& [ordinal, pod] : work.pods) {
    ready += isReady(*pod) ? 1 : 0;
    available += isAvailable(*pod, work.set.minReadySeconds, work.now) ? 1 : 0;
    if (pod->meta.isDeleting()) continue;
    ofCurrent += revisionOf(*pod) == work.current ? 1 : 0;
    ofUpdate += revisionOf(*pod) == work.update ? 1 : 0;
  }
  const auto total = static_cast<int32_t>(work.pods.size());
  const bool rolledOut =
      ofUpdate == total && ready == total && work.set.partition == 0 && total == work.set.replicas;
  json::Object status{{"observedGeneration", work.set.meta.generation},
                      {"replicas", total},
                      {"availableReplicas", available},
                      {"updateRevision", work.update},
                      {"currentRevision", rolledOut ? work.update : work.current},
                      {"collisionCount", work.set.collisionCount}};
  putCount(status, "readyReplicas", ready);
  putCount(status, "currentReplicas", rolledOut ? ofUpdate : ofCurrent);
  putCount(status, "updatedReplicas", ofUpdate);
  return status;
}

std::vector<std::string> revisionsInUse(const StatefulSet& set, const Pods& pods) {
  std::vector<std::string> names{set.currentRevision};
  for (const auto& pod : pods) names.emplace_back(revisionOf(*pod));
  return names;
}

}  // namespace

int32_t ordinalOf(std::string_view set, std::string_view pod) {
  if (!pod.starts_with(set) || pod.size() <= set.size() + 1 || pod[set.size()] != '-') return -1;
  return parseInt<int32_t>(pod.substr(set.size() + 1)).value_or(-1);
}

Plan planStatefulSet(const StatefulSet& set, const Pods& pods, const Revisions& revisions,
                     std::string raw, WallTime now) {
  Ordered work{set, revisions, now, {}, set.currentRevision, {}, {}};
  if (set.meta.isDeleting()) return {};
  work.update =
      planRevisions(api::kind::kStatefulSet, set, revisions, revisionsInUse(set, pods), work.plan);
  if (work.current.empty()) work.current = work.update;
  for (const auto& pod : pods)
    if (int32_t ordinal = ordinalOf(set.meta.name.view(), pod->meta.name.view()); ordinal >= 0)
      work.pods.emplace(ordinal, pod);
  // In order: first every place filled, then the surplus goes, then old ones are replaced.
  const bool whole = fillPlaces(work);
  const bool shrunk = (whole || work.parallel()) && shrink(work);
  if (whole && shrunk) roll(work);
  work.plan.change.push_back(
      {{api::kind::kStatefulSet, std::string(set.meta.ns.view()), set.meta.name.str(), "status"},
       client::PatchType::kMerge,
       {{"status", statusOf(work)}},
       std::move(raw)});
  return std::move(work.plan);
}

}  // namespace mangrove::workloads
