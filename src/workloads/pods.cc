#include "workloads/pods.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "api/wire/write.h"
#include "base/number/fnv.h"
#include "base/text/strings.h"

namespace mangrove::workloads {
namespace {

using std::chrono::seconds;

constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

int64_t deletionCost(const api::Pod& pod) {
  auto text = pod.meta.annotations.get(kDeletionCost);
  return text ? parseInt<int32_t>(*text).value_or(0) : 0;
}

int phaseRank(api::PodPhase phase) {
  switch (phase) {
    case api::PodPhase::kRunning:
      return 2;
    case api::PodPhase::kUnknown:
      return 1;
    default:
      return 0;
  }
}

// Smaller goes first.
auto removalRank(const api::Pod& pod, int neighbours) {
  const bool ready = isReady(pod);
  return std::tuple(!pod.nodeName.view().empty(), phaseRank(pod.status.phase), ready,
                    deletionCost(pod), -neighbours,
                    ready ? -readySince(pod).time_since_epoch().count() : 0, -restarts(pod),
                    -pod.meta.creationTimestamp.time_since_epoch().count());
}

json::Value withoutLabel(std::string_view templateText, std::string_view label) {
  auto value = json::parse(templateText);
  if (!value || !value->is_object()) return {};
  json::Object& meta = sub(value->get_object(), "metadata");
  if (json::Object* labels = meta.if_contains("labels") ? meta["labels"].if_object() : nullptr) {
    labels->erase(label);
    if (labels->empty()) meta.erase("labels");
  }
  meta.erase("creationTimestamp");
  return std::move(*value);
}

}  // namespace

bool isReady(const api::Pod& pod) {
  return api::isTrue(pod.status.conditions, "Ready");
}

WallTime readySince(const api::Pod& pod) {
  const auto* ready = api::findCondition(pod.status.conditions, "Ready");
  return ready && ready->status == api::Truth::kTrue ? ready->lastTransitionTime : kZeroTime;
}

bool isAvailable(const api::Pod& pod, int32_t minReadySeconds, WallTime now) {
  if (!isReady(pod)) return false;
  if (minReadySeconds <= 0) return true;
  const WallTime since = readySince(pod);
  return since != kZeroTime && since + seconds(minReadySeconds) <= now;
}

Duration untilAvailable(const api::Pod& pod, int32_t minReadySeconds, WallTime now) {
  if (!isReady(pod) || isAvailable(pod, minReadySeconds, now)) return Duration::zero();
  return std::max<Duration>(readySince(pod) + seconds(minReadySeconds) - now,
                            std::chrono::milliseconds(1));
}

int32_t restarts(const api::Pod& pod) {
  int32_t most = 0;
  for (const auto& container : pod.status.containers) most = std::max(most, container.restartCount);
  return most;
}

void sortForRemoval(Pods& pods) {
  std::map<std::string_view, int> onNode;
  for (const auto& pod : pods)
    if (api::isActive(*pod)) ++onNode[pod->nodeName.view()];
  std::stable_sort(pods.begin(), pods.end(), [&](const auto& a, const auto& b) {
    return removalRank(*a, onNode[a->nodeName.view()]) <
           removalRank(*b, onNode[b->nodeName.view()]);
  });
}

Removal removePod(const api::Pod& pod) {
  Removal removal;
  removal.ref = {api::kind::kPod, std::string(pod.meta.ns.view()), pod.meta.name.str()};
  removal.options.uid = pod.meta.uid;
  return removal;
}

json::Object ownerReference(const api::Kind& kind, const api::ObjectMeta& owner) {
  return {{"apiVersion", kind.apiVersion()}, {"kind", kind.kind},  {"name", owner.name.view()},
          {"uid", owner.uid.str()},          {"controller", true}, {"blockOwnerDeletion", true}};
}

json::Object& sub(json::Object& object, std::string_view name) {
  json::Value& value = object[name];
  if (!value.is_object()) value.emplace_object();
  return value.get_object();
}

void putCount(json::Object& status, std::string_view name, int64_t count) {
  if (count == 0)
    status[name] = nullptr;
  else
    status[name] = count;
}

Result<json::Object> podFromTemplate(std::string_view templateText, const api::Kind& ownerKind,
                                     const api::ObjectMeta& owner) {
  auto value = json::parse(templateText);
  if (!value) return value.error().in("pod template of {} {}", ownerKind.kind, owner.name.view());
  if (!value->is_object())
    return invalid("pod template of {} {}: want an object", ownerKind.kind, owner.name.view());
  json::Object pod{{"apiVersion", "v1"}, {"kind", "Pod"}};
  const json::Object& from = value->get_object();
  json::Object& meta = sub(pod, "metadata");
  if (const auto* given = from.if_contains("metadata"); given && given->is_object()) {
    for (std::string_view key : {"labels", "annotations", "finalizers"})
      if (const auto* part = given->get_object().if_contains(key)) meta[key] = *part;
  }
  meta["namespace"] = owner.ns.view();
  meta["generateName"] = owner.name.str() + "-";
  meta["ownerReferences"] = json::Array{ownerReference(ownerKind, owner)};
  if (const auto* spec = from.if_contains("spec")) pod["spec"] = *spec;
  return pod;
}

std::string hashName(std::string_view content, int64_t collisions) {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  uint64_t hash = fnv1a(content);
  for (; collisions > 0; collisions /= 256) {
    const char byte = static_cast<char>(collisions % 256);
    hash = fnv1a({&byte, 1}, hash);
  }
  std::string name;
  for (int i = 0; i < 10; ++i, hash /= kLetters.size()) name += kLetters[hash % kLetters.size()];
  return name;
}

bool sameTemplate(std::string_view a, std::string_view b, std::string_view hashLabel) {
  return json::equal(withoutLabel(a, hashLabel), withoutLabel(b, hashLabel));
}

const WorkloadCondition* findCondition(const std::vector<WorkloadCondition>& conditions,
                                       std::string_view type) {
  for (const auto& condition : conditions)
    if (condition.type == type) return &condition;
  return nullptr;
}

void setCondition(std::vector<WorkloadCondition>& conditions, WorkloadCondition wanted,
                  WallTime now) {
  const auto* present = findCondition(conditions, wanted.type);
  const bool sameStatus = present && present->status == wanted.status;
  if (sameStatus && present->reason == wanted.reason && present->message == wanted.message) return;
  wanted.lastUpdateTime = now;
  wanted.lastTransitionTime = sameStatus ? present->lastTransitionTime : now;
  dropCondition(conditions, wanted.type);
  conditions.push_back(std::move(wanted));
}

void dropCondition(std::vector<WorkloadCondition>& conditions, std::string_view type) {
  std::erase_if(conditions, [&](const auto& condition) { return condition.type == type; });
}

json::Array conditionsJson(const std::vector<WorkloadCondition>& conditions) {
  json::Array out;
  for (const auto& condition : conditions) {
    json::Object one{{"type", condition.type}, {"status", condition.status}};
    api::put(one, "lastUpdateTime", condition.lastUpdateTime);
    api::put(one, "lastTransitionTime", condition.lastTransitionTime);
    api::put(one, "reason", condition.reason);
    api::put(one, "message", condition.message);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace mangrove::workloads
