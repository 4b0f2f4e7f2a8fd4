// Deployments and their relatives: a selector that fits the template, and strategies that can move.
#include <fmt/core.h>

#include "apiserver/kinds/object_meta.h"
#include "apiserver/kinds/validators.h"

namespace mangrove::apiserver {
namespace {

bool requirementHolds(const json::Object& labels, const json::Object& requirement) {
  const json::Value* label = labels.if_contains(textIn(requirement, "key"));
  std::string_view op = textIn(requirement, "operator");
  if (op == "Exists") return label != nullptr;
  if (op == "DoesNotExist") return label == nullptr;
  bool isListed = false;
  for (const json::Value& value : arrayIn(requirement, "values"))
    isListed = isListed || (label != nullptr && *label == value);
  return op == "In" ? isListed : !isListed;
}

bool selects(const json::Object& selector, const json::Object& labels) {
  for (const auto& wanted : objectIn(selector, "matchLabels")) {
    const json::Value* label = labels.if_contains(wanted.key());
    if (label == nullptr || *label != wanted.value()) return false;
  }
  for (const json::Value& requirement : arrayIn(selector, "matchExpressions"))
    if (requirement.is_object() && !requirementHolds(labels, requirement.get_object()))
      return false;
  return true;
}

// The label selector of a workload: there, not empty, and choosing the pods it makes.
void checkOwnSelector(const Inspect& spec) {
  Inspect selector = spec.child("selector");
  bool isEmpty = selector.map("matchLabels").empty() && selector.array("matchExpressions").empty();
  if (!spec.has("selector"))
    spec.required("selector");
  else if (isEmpty)
    return spec.invalid("selector", "empty selector is invalid for this kind");
  checkSelector(selector);
  Inspect inside = spec.child("template");
  Inspect meta = inside.child("metadata");
  if (isEmpty || !selects(selector.object(), meta.map("labels")))
    spec.errors().invalid(meta.at().child("labels"), meta.value("labels"),
                          "`selector` does not match template `labels`");
}

void checkAlwaysRestarts(const Inspect& spec) {
  Inspect inside = spec.child("template");
  Inspect pod = inside.child("spec");
  pod.oneOf("restartPolicy", {"Always"});
  if (pod.has("activeDeadlineSeconds"))
    pod.forbidden("activeDeadlineSeconds", "must not be specified for pods that are kept running");
}

bool isZeroCount(const json::Value* value) {
  return value != nullptr && (*value == json::Value(0) || *value == json::Value("0%"));
}

void checkRolling(const Inspect& strategy) {
  Inspect rolling = strategy.child("rollingUpdate");
  for (std::string_view key : {"maxUnavailable", "maxSurge"}) {
    const json::Value* value = rolling.find(key);
    // A surge of more than all pods is fine, being without more than all is not.
    if (key == "maxSurge" && value != nullptr && value->is_string()) continue;
    checkCountOrPercent(rolling, key);
  }
  if (isZeroCount(rolling.find("maxUnavailable")) && isZeroCount(rolling.find("maxSurge")))
    rolling.invalid("maxUnavailable", "may not be 0 when `maxSurge` is 0");
}

void checkWorkload(const Inspect& spec) {
  for (std::string_view key : {"replicas", "minReadySeconds", "revisionHistoryLimit"})
    spec.notNegative(key);
  checkOwnSelector(spec);
  checkPodTemplate(spec);
  checkAlwaysRestarts(spec);
}

void selectorStays(const json::Object& now, const json::Object& old, FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  spec.immutable("selector", objectIn(old, "spec"));
}

}  // namespace

void validateDeployment(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  checkWorkload(spec);
  Inspect strategy = spec.child("strategy");
  if (strategy.text("type") == "Recreate" && strategy.has("rollingUpdate"))
    strategy.forbidden("rollingUpdate", "may not be specified when strategy `type` is 'Recreate'");
  checkRolling(strategy);
  spec.notNegative("progressDeadlineSeconds");
  auto deadline = spec.integer("progressDeadlineSeconds");
  if (deadline && *deadline <= spec.integer("minReadySeconds").value_or(0))
    spec.invalid("progressDeadlineSeconds", "must be greater than minReadySeconds");
}

void validateDeploymentUpdate(const json::Object& now, const json::Object& old,
                              FieldErrors& errors) {
  selectorStays(now, old, errors);
}

void validateReplicaSet(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  checkWorkload(spec);
}

void validateReplicaSetUpdate(const json::Object& now, const json::Object& old,
                              FieldErrors& errors) {
  selectorStays(now, old, errors);
}

void validateDaemonSet(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  checkWorkload(spec);
  Inspect strategy = spec.child("updateStrategy");
  checkRolling(strategy);
}

void validateDaemonSetUpdate(const json::Object& now, const json::Object& old,
                             FieldErrors& errors) {
  selectorStays(now, old, errors);
}

// Mounts may name claim templates: every pod gets a volume of that name.
static json::Object withClaimVolumes(json::Object set) {
  json::Value& spec = set["spec"];
  if (!spec.is_object()) return set;
  json::Value* pod = spec.get_object().if_contains("template");
  pod = pod && pod->is_object() ? pod->get_object().if_contains("spec") : nullptr;
  if (!pod || !pod->is_object()) return set;
  json::Value& volumes = pod->get_object()["volumes"];
  if (!volumes.is_array()) volumes = json::Array();
  for (const json::Value& claim : arrayIn(spec.get_object(), "volumeClaimTemplates")) {
    if (!claim.is_object()) continue;
    const json::Object& meta = objectIn(claim.get_object(), "metadata");
    const std::string name(textIn(meta, "name"));
    volumes.get_array().push_back(
        {{"name", name}, {"persistentVolumeClaim", json::Object{{"claimName", name}}}});
  }
  return set;
}

void validateStatefulSet(const json::Object& object, FieldErrors& errors) {
  const json::Object whole = withClaimVolumes(object);
  Inspect root(whole, errors);
  Inspect spec = root.child("spec");
  checkWorkload(spec);
  Inspect strategy = spec.child("updateStrategy");
  Inspect rolling = strategy.child("rollingUpdate");
  rolling.notNegative("partition");
  checkCountOrPercent(rolling, "maxUnavailable");
  spec.each("volumeClaimTemplates", [](const Inspect& claim) {
    Inspect claimSpec = claim.child("spec");
    checkClaimSpec(claimSpec);
  });
}

void validateStatefulSetUpdate(const json::Object& now, const json::Object& old,
                               FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  json::Object allowed = objectIn(old, "spec");
  for (std::string_view key :
       {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    const json::Value* value = spec.find(key);
    if (value != nullptr)
      allowed[key] = *value;
    else
      allowed.erase(key);
  }
  if (!json::equal(allowed, spec.object()))
    errors.forbidden(spec.at(),
                     "updates to statefulset spec for fields other than 'replicas', 'ordinals', "
                     "'template', 'updateStrategy', 'revisionHistoryLimit', "
                     "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
}

void validateReplicationController(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  spec.notNegative("replicas");
  spec.notNegative("minReadySeconds");
  bool hasSelector = spec.wantsSome("selector");
  if (!spec.has("template")) return spec.required("template");
  checkPodTemplate(spec);
  checkAlwaysRestarts(spec);
  if (!hasSelector) return;
  validateLabels(spec.map("selector"), spec.at().child("selector"), errors);
  Inspect inside = spec.child("template");
  Inspect meta = inside.child("metadata");
  if (!selects(json::Object{{"matchLabels", spec.map("selector")}}, meta.map("labels")))
    errors.invalid(meta.at().child("labels"), meta.map("labels"),
                   "`selector` does not match template `labels`");
}

void validateControllerRevision(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  root.notNegative("revision");
}

void validateControllerRevisionUpdate(const json::Object& now, const json::Object& old,
                                      FieldErrors& errors) {
  Inspect root(now, errors);
  root.immutable("data", old);
}

}  // namespace mangrove::apiserver
