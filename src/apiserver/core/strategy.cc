#include "apiserver/core/strategy.h"

#include <array>
#include <unordered_map>

#include <fmt/core.h>

#include "api/pod/classes.h"
#include "api/pod/pod.h"
#include "apiserver/core/object.h"
#include "base/text/time_text.h"

namespace mangrove::apiserver {

namespace {

// The label lets selectors name a namespace; generated names are known only now.
void labelNamespace(json::Object& object) {
  const std::string name(nameOf(object));
  objectAt(metadataOf(object), "labels")["kubernetes.io/metadata.name"] = name;
}

void appendResources(const json::Object& from, std::string& out) {
  const json::Value* resources = from.if_contains("resources");
  out += R"({"name":"c")";
  if (resources) out.append(R"(,"resources":)").append(json::write(*resources));
  out += '}';
}

// Of a pod only what its class depends on: the rest is most of it.
std::string resourcesOf(const json::Object& pod) {
  static const json::Object kNone;
  const json::Object* found = findObject(pod, "spec");
  const json::Object& spec = found ? *found : kNone;
  std::string out = R"({"spec":{)";
  for (std::string_view list : {"containers", "initContainers"}) {
    const json::Array* containers = findArray(spec, list);
    out += fmt::format("\"{}\":[", list);
    for (size_t i = 0; containers && i < containers->size(); ++i) {
      if (i > 0) out += ',';
      const json::Object* one = (*containers)[i].if_object();
      appendResources(one ? *one : kNone, out);
    }
    out += "],";
  }
  out.pop_back();
  if (const json::Value* own = spec.if_contains("resources"))
    out.append(R"(,"resources":)").append(json::write(*own));
  return out.append("}}");
}

// The class follows from the resources, which admission may have changed.
void classifyPod(json::Object& object) {
  auto pod = api::decodeText<api::Pod>(resourcesOf(object));
  if (pod) {
    objectAt(object, "status")["qosClass"] = api::kubeQosName(api::computeKubeQos(*pod->spec));
  }
}

// A pod with gates says from its first moment why nobody schedules it.
void explainGates(json::Object& pod) {
  const json::Object* spec = findObject(pod, "spec");
  const json::Array* gates = spec ? findArray(*spec, "schedulingGates") : nullptr;
  if (!gates || gates->empty()) return;
  json::Object condition{{"type", "PodScheduled"},
                         {"status", "False"},
                         {"lastTransitionTime", textAt(metadataOf(pod), "creationTimestamp")},
                         {"reason", "SchedulingGated"},
                         {"message", "Scheduling is blocked due to non-empty scheduling gates"}};
  objectAt(pod, "status")["conditions"] = json::Array{std::move(condition)};
}

void beginPod(json::Object& pod) {
  classifyPod(pod);
  explainGates(pod);
}

struct Entry {
  std::string_view group, kind;
  Strategy strategy;
};

const std::array kEntries = {
    Entry{"",
          "Pod",
          {.counted = true, .graceful = true, .answersDeleted = true, .finish = &beginPod}},
    Entry{"", "Namespace", {.answersDeleted = true, .finish = &labelNamespace}},
    Entry{"", "Node", {.keepsStatusOnCreate = true}},
    Entry{"", "Service", {.createOnUpdate = true, .answersDeleted = true}},
    Entry{"", "ServiceAccount", {.answersDeleted = true}},
    Entry{"", "PersistentVolume", {.answersDeleted = true}},
    Entry{"", "PersistentVolumeClaim", {.answersDeleted = true}},
    Entry{"", "ResourceQuota", {.answersDeleted = true}},
    Entry{"", "PodTemplate", {.counted = true, .answersDeleted = true}},
    Entry{"", "Endpoints", {.createOnUpdate = true}},
    Entry{"", "LimitRange", {.createOnUpdate = true}},
    Entry{"", "Event", {.createOnUpdate = true}},
    Entry{"", "ReplicationController", {.counted = true}},
    Entry{"coordination.k8s.io", "Lease", {.unconditionalUpdate = false, .createOnUpdate = true}},
    Entry{"apps", "Deployment", {.counted = true}},
    Entry{"apps", "ReplicaSet", {.counted = true}},
    Entry{"apps", "StatefulSet", {.counted = true}},
    Entry{"apps", "DaemonSet", {.counted = true}},
    Entry{"batch", "Job", {.counted = true}},
    Entry{"batch", "CronJob", {.counted = true}},
    Entry{"policy", "PodDisruptionBudget", {.unconditionalUpdate = false, .counted = true}},
    Entry{"networking.k8s.io", "NetworkPolicy", {.counted = true}},
    Entry{"networking.k8s.io", "Ingress", {.counted = true}},
    Entry{"discovery.k8s.io", "EndpointSlice", {.counted = true}},
    Entry{"networking.k8s.io", "IngressClass", {.counted = true}},
    Entry{"scheduling.k8s.io", "PriorityClass", {.counted = true}},
    Entry{"storage.k8s.io", "StorageClass", {.answersDeleted = true}},
    Entry{"storage.k8s.io", "CSIDriver", {.unconditionalUpdate = false, .answersDeleted = true}},
    Entry{"storage.k8s.io", "CSINode", {.unconditionalUpdate = false, .answersDeleted = true}},
    Entry{"storage.k8s.io",
          "VolumeAttachment",
          {.unconditionalUpdate = false, .answersDeleted = true}},
    Entry{"storage.k8s.io", "CSIStorageCapacity", {.unconditionalUpdate = false}},
    Entry{"node.k8s.io", "RuntimeClass", {.unconditionalUpdate = false}},
    Entry{"events.k8s.io", "Event", {.createOnUpdate = true}},
    Entry{"admissionregistration.k8s.io",
          "MutatingWebhookConfiguration",
          {.unconditionalUpdate = false, .counted = true}},
    Entry{"admissionregistration.k8s.io",
          "ValidatingWebhookConfiguration",
          {.unconditionalUpdate = false, .counted = true}},
    Entry{"apiextensions.k8s.io", "CustomResourceDefinition", {.counted = true}},
    Entry{"rbac.authorization.k8s.io", "ClusterRole", {.createOnUpdate = true}},
    Entry{"rbac.authorization.k8s.io", "Role", {.createOnUpdate = true}},
    Entry{"rbac.authorization.k8s.io", "ClusterRoleBinding", {.createOnUpdate = true}},
    Entry{"rbac.authorization.k8s.io", "RoleBinding", {.createOnUpdate = true}},
};

constexpr std::array<std::string_view, 4> kServerMetadata = {
    "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"};

bool sameButMetadataAndStatus(const json::Object& a, const json::Object& b) {
  auto rest = [](std::string_view key) { return key != "metadata" && key != "status"; };
  size_t left = 0;
  for (const auto& [key, value] : a) {
    if (!rest(key)) continue;
    ++left;
    const json::Value* other = b.if_contains(key);
    if (!other || !json::equal(*other, value)) return false;
  }
  for (const auto& member : b) {
    if (rest(member.key())) --left;
  }
  return left == 0;
}

}  // namespace

namespace {

const Strategy& lookUp(const KindInfo& kind) {
  static const Strategy kUsual;
  for (const Entry& entry : kEntries) {
    if (entry.group == kind.group && entry.kind == kind.kind) return entry.strategy;
  }
  return kUsual;
}

}  // namespace

const Strategy& strategyOf(const KindInfo& kind) {
  static const Strategy kCustom{.unconditionalUpdate = false, .counted = true};
  if (kind.isCustom) return kCustom;
  // Built-in kinds live for ever, and every write asks several times.
  thread_local std::unordered_map<const KindInfo*, const Strategy*> known;
  const Strategy*& strategy = known[&kind];
  if (!strategy) strategy = &lookUp(kind);
  return *strategy;
}

void prepareCreate(const KindInfo& kind, json::Object& object) {
  const Strategy& strategy = strategyOf(kind);
  json::Object& metadata = metadataOf(object);
  for (auto key : kServerMetadata) metadata.erase(key);
  metadata.erase("generation");
  metadata.erase("selfLink");
  if (kind.hasStatus() && !strategy.keepsStatusOnCreate) object.erase("status");
}

void prepareUpdate(const KindInfo& kind, Part part, json::Object& object, const json::Object& old) {
  if (part == Part::kStatus) {
    json::Object kept(old, object.storage());
    copyMember(kept, object, "status");
    if (kind.isCustom) {
      copyMember(metadataOf(kept), metadataOf(std::as_const(object)), "managedFields");
    } else {
      kept["metadata"] = metadataOf(object);
    }
    copyMember(kept, object, "apiVersion");
    object = std::move(kept);
  } else if (kind.hasStatus()) {
    copyMember(object, old, "status");
  }
  json::Object& metadata = metadataOf(object);
  for (auto key : kServerMetadata) copyMember(metadata, metadataOf(old), key);
  copyMember(metadata, metadataOf(old), "generation");
  metadata.erase("selfLink");
}

void stampCreate(const KindInfo& kind, json::Object& object, WallTime now, Rng& rng) {
  json::Object& metadata = metadataOf(object);
  metadata["uid"] = makeUid(rng);
  metadata["creationTimestamp"] = formatTime(now);
  if (strategyOf(kind).counted) metadata["generation"] = 1;
}

void finishCreate(const KindInfo& kind, json::Object& object) {
  if (auto finish = strategyOf(kind).finish) finish(object);
}

void stampUpdate(const KindInfo& kind, json::Object& object, const json::Object& old) {
  if (!strategyOf(kind).counted || sameButMetadataAndStatus(object, old)) return;
  json::Value& generation = metadataOf(object)["generation"];
  const int64_t before = generation.is_int64() ? generation.get_int64() : 1;
  generation = before + 1;
}

std::string makeUid(Rng& rng) {
  const uint64_t high = (rng.next() & ~0xf000ULL) | 0x4000ULL;       // version 4
  const uint64_t low = (rng.next() & ~(3ULL << 62)) | (2ULL << 62);  // variant 1
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffffffffffffULL);
}

std::string generatedName(std::string_view generateName, Rng& rng) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";  // no vowels: no words
  constexpr size_t kSuffix = 5;
  constexpr size_t kLongest = 63 - kSuffix;
  std::string name(generateName.substr(0, kLongest));
  for (size_t i = 0; i < kSuffix; ++i) name += kAlphabet[rng.below(kAlphabet.size())];
  return name;
}

}  // namespace mangrove::apiserver
