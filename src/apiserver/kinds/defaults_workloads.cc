#include <limits>

#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/inspect.h"

namespace mangrove::apiserver {
namespace {

json::Object* specOf(json::Object& object) {
  json::Object* spec = mutableObject(object, "spec");
  if (spec != nullptr) defaultPodTemplate(*spec);
  return spec;
}

// The strategy object of a workload; nullptr unless it rolls, otherwise its rollingUpdate part.
json::Object* rollingUpdateOf(json::Object& spec, std::string_view key) {
  json::Object* strategy = ensureObject(spec, key);
  if (strategy == nullptr) return nullptr;
  setMissing(*strategy, "type", "RollingUpdate");
  return textIn(*strategy, "type") == "RollingUpdate" ? ensureObject(*strategy, "rollingUpdate")
                                                      : nullptr;
}

json::Object labelsOfTemplate(const json::Object& spec) {
  return objectIn(objectIn(objectIn(spec, "template"), "metadata"), "labels");
}

void setLabel(json::Object& labels, std::string_view key, std::string_view value) {
  labels[key] = value;
}

void defaultClaimTemplate(json::Object& claim) {
  setMissing(claim, "apiVersion", "v1");
  setMissing(claim, "kind", "PersistentVolumeClaim");
  ensureObject(claim, "spec");
  ensureObject(claim, "status");
}

}  // namespace

void defaultDeployment(json::Object& object) {
  json::Object* spec = specOf(object);
  if (spec == nullptr) return;
  if (json::Object* rolling = rollingUpdateOf(*spec, "strategy")) {
    setMissing(*rolling, "maxUnavailable", "25%");
    setMissing(*rolling, "maxSurge", "25%");
  }
}

void defaultReplicaSet(json::Object& object) {
  specOf(object);
}

void defaultDaemonSet(json::Object& object) {
  json::Object* spec = specOf(object);
  if (spec == nullptr) return;
  if (json::Object* rolling = rollingUpdateOf(*spec, "updateStrategy")) {
    setMissing(*rolling, "maxUnavailable", 1);
    setMissing(*rolling, "maxSurge", 0);
  }
}

void defaultStatefulSet(json::Object& object) {
  json::Object* spec = specOf(object);
  if (spec == nullptr) return;
  if (json::Object* rolling = rollingUpdateOf(*spec, "updateStrategy"))
    setMissing(*rolling, "partition", 0);
  ensureObject(*spec, "persistentVolumeClaimRetentionPolicy");
  if (json::Array* claims = mutableArray(*spec, "volumeClaimTemplates"))
    for (json::Value& claim : *claims)
      if (claim.is_object()) defaultClaimTemplate(claim.get_object());
}

void defaultReplicationController(json::Object& object) {
  json::Object* spec = specOf(object);
  if (spec == nullptr) return;
  json::Object labels = labelsOfTemplate(*spec);
  if (labels.empty()) return;
  setMissing(*spec, "selector", labels);
  if (json::Object* meta = ensureObject(object, "metadata")) setMissing(*meta, "labels", labels);
}

void defaultJob(json::Object& object) {
  json::Object* spec = specOf(object);
  if (spec == nullptr) return;
  json::Object labels = labelsOfTemplate(*spec);
  json::Object* meta = labels.empty() ? nullptr : ensureObject(object, "metadata");
  if (meta != nullptr) setMissing(*meta, "labels", std::move(labels));
  bool hasCompletions = spec->contains("completions");
  bool hasParallelism = spec->contains("parallelism");
  if (!hasCompletions && !hasParallelism) spec->emplace("completions", 1);
  setMissing(*spec, "parallelism", 1);
  setMissing(*spec, "completionMode", "NonIndexed");
  setMissing(*spec, "suspend", false);
  setMissing(*spec, "manualSelector", false);
  bool perIndex = spec->contains("backoffLimitPerIndex");
  setMissing(*spec, "backoffLimit", perIndex ? std::numeric_limits<int32_t>::max() : 6);
  bool hasPolicy = spec->contains("podFailurePolicy");
  setMissing(*spec, "podReplacementPolicy", hasPolicy ? "Failed" : "TerminatingOrFailed");
}

// A job's pods are told from all others by the uid of the job, unless its author says otherwise.
void startJob(json::Object& object) {
  json::Object* spec = mutableObject(object, "spec");
  const json::Object& meta = objectIn(object, "metadata");
  std::string uid(textIn(meta, "uid")), name(textIn(meta, "name"));
  if (spec == nullptr || uid.empty()) return;
  const json::Value* manual = spec->if_contains("manualSelector");
  if (manual != nullptr && manual->is_bool() && manual->get_bool()) return;
  json::Object* inside = ensureObject(*spec, "template");
  json::Object* templateMeta = inside != nullptr ? ensureObject(*inside, "metadata") : nullptr;
  json::Object* labels = templateMeta != nullptr ? ensureObject(*templateMeta, "labels") : nullptr;
  if (labels == nullptr) return;
  setLabel(*labels, "batch.kubernetes.io/controller-uid", uid);
  setLabel(*labels, "batch.kubernetes.io/job-name", name);
  setLabel(*labels, "controller-uid", uid);
  setLabel(*labels, "job-name", name);
  json::Object made = *labels;
  if (json::Object* own = ensureObject(object, "metadata")) setMissing(*own, "labels", made);
  json::Object* selector = ensureObject(*spec, "selector");
  json::Object* match = selector != nullptr ? ensureObject(*selector, "matchLabels") : nullptr;
  if (match != nullptr) setLabel(*match, "batch.kubernetes.io/controller-uid", uid);
}

// The job inside is completed when it is made, not here; only its pods get their defaults.
void defaultCronJob(json::Object& object) {
  json::Object* spec = mutableObject(object, "spec");
  json::Object* job = spec != nullptr ? mutableObject(*spec, "jobTemplate") : nullptr;
  json::Object* jobSpec = job != nullptr ? mutableObject(*job, "spec") : nullptr;
  if (jobSpec != nullptr) defaultPodTemplate(*jobSpec);
}

}  // namespace mangrove::apiserver
