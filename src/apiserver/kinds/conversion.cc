#include "apiserver/kinds/conversion.h"

#include "apiserver/kinds/inspect.h"
#include "apiserver/schema/defaulting.h"

namespace mangrove::apiserver {
namespace {

struct Rename {
  std::string_view served, stored;
};
constexpr Rename kEventFields[] = {
    {"note", "message"},
    {"regarding", "involvedObject"},
    {"reportingController", "reportingComponent"},
    {"deprecatedSource", "source"},
    {"deprecatedFirstTimestamp", "firstTimestamp"},
    {"deprecatedLastTimestamp", "lastTimestamp"},
    {"deprecatedCount", "count"},
};

void rename(json::Object& object, std::string_view from, std::string_view to) {
  json::Value* value = object.if_contains(from);
  if (value == nullptr) return;
  json::Value moved = std::move(*value);
  object.stable_erase(from);
  object[to] = std::move(moved);
}

bool isEvent(const KindInfo& kind) {
  return kind.group == "events.k8s.io" && kind.kind == "Event";
}
bool isAutoscaler(const KindInfo& kind) {
  return kind.group == "autoscaling" && kind.kind == "HorizontalPodAutoscaler";
}

// Version 1 knows CPU utilisation only; everything else travels in annotations.
constexpr std::string_view kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr std::string_view kBehavior = "autoscaling.alpha.kubernetes.io/behavior";

bool isCpu(const json::Value& metric) {
  if (!metric.is_object()) return false;
  const json::Object& resource = objectIn(metric.get_object(), "resource");
  return textIn(metric.get_object(), "type") == "Resource" && textIn(resource, "name") == "cpu" &&
         objectIn(resource, "target").contains("averageUtilization");
}

json::Value cpuMetric(std::string_view part, const json::Value& percent) {
  json::Object amount{{"averageUtilization", percent}};
  if (part == "target") amount["type"] = "Utilization";
  return json::Object{{"type", "Resource"},
                      {"resource", json::Object{{"name", "cpu"}, {part, std::move(amount)}}}};
}

// Takes an annotation out and returns what it holds; null when it is not there or no JSON.
json::Value takeAnnotation(json::Object& object, std::string_view key) {
  json::Object* meta = mutableObject(object, "metadata");
  json::Object* annotations = meta != nullptr ? mutableObject(*meta, "annotations") : nullptr;
  if (annotations == nullptr || !annotations->contains(key)) return nullptr;
  auto value = json::parse(textIn(*annotations, key));
  annotations->stable_erase(key);
  if (annotations->empty()) meta->stable_erase("annotations");
  return value ? *value : json::Value();
}

void putAnnotation(json::Object& object, std::string_view key, const json::Value& value) {
  json::Object* meta = ensureObject(object, "metadata");
  json::Object* annotations = meta != nullptr ? ensureObject(*meta, "annotations") : nullptr;
  if (annotations != nullptr) (*annotations)[key] = json::write(value);
}

void autoscalerToStored(json::Object& object) {
  json::Object* spec = ensureObject(object, "spec");
  if (spec == nullptr) return;
  json::Array metrics;
  if (const json::Value* percent = spec->if_contains("targetCPUUtilizationPercentage"))
    metrics.push_back(cpuMetric("target", *percent));
  json::Value others = takeAnnotation(object, kMetrics);
  if (others.is_array())
    for (json::Value& metric : others.get_array()) metrics.push_back(std::move(metric));
  spec->stable_erase("targetCPUUtilizationPercentage");
  if (!metrics.empty()) (*spec)["metrics"] = std::move(metrics);
  json::Value behavior = takeAnnotation(object, kBehavior);
  if (behavior.is_object()) (*spec)["behavior"] = std::move(behavior);
  json::Object* status = mutableObject(object, "status");
  if (status == nullptr || !status->contains("currentCPUUtilizationPercentage")) return;
  (*status)["currentMetrics"] =
      json::Array{cpuMetric("current", status->at("currentCPUUtilizationPercentage"))};
  status->stable_erase("currentCPUUtilizationPercentage");
}

void currentFromStored(json::Object& status) {
  for (const json::Value& metric : json::Array(arrayIn(status, "currentMetrics"))) {
    if (!metric.is_object()) continue;
    const json::Object& current = objectIn(objectIn(metric.get_object(), "resource"), "current");
    const json::Value* percent = current.if_contains("averageUtilization");
    if (percent != nullptr) status["currentCPUUtilizationPercentage"] = *percent;
  }
  status.stable_erase("currentMetrics");
  status.stable_erase("conditions");
}

void autoscalerFromStored(json::Object& object) {
  json::Object* spec = mutableObject(object, "spec");
  if (spec == nullptr) return;
  json::Array others;
  for (const json::Value& metric : json::Array(arrayIn(*spec, "metrics"))) {
    if (isCpu(metric) && !spec->contains("targetCPUUtilizationPercentage"))
      (*spec)["targetCPUUtilizationPercentage"] =
          metric.at("resource").at("target").at("averageUtilization");
    else
      others.push_back(metric);
  }
  spec->stable_erase("metrics");
  if (!others.empty()) putAnnotation(object, kMetrics, others);
  if (const json::Value* behavior = spec->if_contains("behavior")) {
    putAnnotation(object, kBehavior, *behavior);
    spec->stable_erase("behavior");
  }
  if (json::Object* status = mutableObject(object, "status")) currentFromStored(*status);
}

}  // namespace

void toStored(const KindInfo& kind, json::Object& object) {
  object["apiVersion"] = kind.storedApiVersion();
  if (isEvent(kind))
    for (const Rename& field : kEventFields) rename(object, field.served, field.stored);
  if (isAutoscaler(kind) && !kind.storage) autoscalerToStored(object);
}

void fromStored(const KindInfo& kind, json::Value& value) {
  json::Object& object = value.get_object();
  object["apiVersion"] = kind.apiVersion();
  if (isEvent(kind))
    for (const Rename& field : kEventFields) rename(object, field.stored, field.served);
  if (isAutoscaler(kind) && !kind.storage) autoscalerFromStored(object);
  if (kind.defaultsOnRead) applyDefaults(kind, value);
}

std::string_view storedField(const KindInfo& kind, std::string_view name) {
  if (!isEvent(kind)) return name;
  static constexpr Rename kNames[] = {
      {"regarding.kind", "involvedObject.kind"},
      {"regarding.namespace", "involvedObject.namespace"},
      {"regarding.name", "involvedObject.name"},
      {"regarding.uid", "involvedObject.uid"},
      {"regarding.apiVersion", "involvedObject.apiVersion"},
      {"regarding.resourceVersion", "involvedObject.resourceVersion"},
      {"regarding.fieldPath", "involvedObject.fieldPath"},
      {"reportingController", "reportingComponent"},
  };
  for (const Rename& one : kNames)
    if (one.served == name) return one.stored;
  return name;
}

}  // namespace mangrove::apiserver
