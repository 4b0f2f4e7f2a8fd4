// Budgets, priorities, autoscalers.
#include <fmt/core.h>

#include "apiserver/kinds/validators.h"

namespace mangrove::apiserver {
namespace {

constexpr int64_t kHighestUserPriority = 1'000'000'000;
constexpr std::string_view kSystemPrefix = "system-";

struct SystemClass {
  std::string_view name;
  int64_t value;
};
constexpr SystemClass kSystemClasses[] = {
    {"system-cluster-critical", 2'000'000'000},
    {"system-node-critical", 2'000'001'000},
};

}  // namespace

void validateDisruptionBudget(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  if (spec.has("minAvailable") && spec.has("maxUnavailable"))
    errors.invalid(spec.at(), spec.object(), "minAvailable and maxUnavailable cannot be both set");
  checkCountOrPercent(spec, "minAvailable");
  checkCountOrPercent(spec, "maxUnavailable");
  Inspect selector = spec.child("selector");
  checkSelector(selector);
}

void validatePriorityClass(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect meta = root.child("metadata");
  std::string_view name = meta.text("name");
  int64_t value = root.integer("value").value_or(0);
  if (name.starts_with(kSystemPrefix)) {
    for (const SystemClass& known : kSystemClasses)
      if (known.name == name && known.value == value && !root.flag("globalDefault")) return;
    return meta.forbidden("name",
                          "priority class names with 'system-' prefix are reserved for system use "
                          "only");
  }
  if (value > kHighestUserPriority)
    root.forbidden("value", fmt::format("maximum allowed value of a user defined priority is {}",
                                        kHighestUserPriority));
}

void validatePriorityClassUpdate(const json::Object& now, const json::Object& old,
                                 FieldErrors& errors) {
  Inspect root(now, errors);
  if (root.integer("value").value_or(0) != Inspect(old, errors).integer("value").value_or(0))
    root.forbidden("value", "may not be changed in an update.");
  root.immutable("preemptionPolicy", old);
}

void validateAutoscaler(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  spec.atLeast("minReplicas", 1);
  spec.atLeast("maxReplicas", 1);
  auto least = spec.integer("minReplicas"), most = spec.integer("maxReplicas");
  if (least && most && *most < *least)
    spec.invalid("maxReplicas", "must be greater than or equal to `minReplicas`");
  Inspect target = spec.child("scaleTargetRef");
  target.wants("kind");
  target.wants("name");
  bool hasGroup = target.text("apiVersion").find('/') != std::string_view::npos;
  if (!hasGroup && target.text("kind") != "ReplicationController")
    target.invalid("apiVersion", "apiVersion must specify API group");
}

}  // namespace mangrove::apiserver
