// What may still change once a pod exists.
#include "apiserver/kinds/validators.h"

namespace mangrove::apiserver {
namespace {

constexpr std::string_view kOnlyThese =
    "pod updates may not change fields other than `spec.containers[*].image`, "
    "`spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only "
    "additions to existing tolerations), `spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)";

// Copies one member of every container from one spec to the other, or takes it away there.
void takeOver(json::Object& to, const json::Object& from, std::string_view list,
              std::string_view key) {
  json::Array* target = mutableArray(to, list);
  const json::Array& source = arrayIn(from, list);
  if (target == nullptr || target->size() != source.size()) return;
  for (size_t i = 0; i < source.size(); ++i) {
    if (!(*target)[i].is_object() || !source[i].is_object()) continue;
    const json::Value* value = source[i].get_object().if_contains(key);
    if (value != nullptr)
      (*target)[i].get_object()[key] = *value;
    else
      (*target)[i].get_object().erase(key);
  }
}

void takeOver(json::Object& to, const json::Object& from, std::string_view key) {
  const json::Value* value = from.if_contains(key);
  if (value != nullptr)
    to[key] = *value;
  else
    to.erase(key);
}

void checkDeadline(const Inspect& spec, const json::Object& old) {
  const json::Value* before = old.if_contains("activeDeadlineSeconds");
  auto now = spec.integer("activeDeadlineSeconds");
  if (before == nullptr || !before->is_int64()) return;
  if (!now)
    spec.invalid("activeDeadlineSeconds", "must not update from a positive integer to nil value");
  else if (*now > before->get_int64())
    spec.invalid("activeDeadlineSeconds", "must be less than or equal to previous value");
}

bool containsEqual(const json::Array& array, const json::Value& value) {
  for (const json::Value& one : array)
    if (json::equal(one, value)) return true;
  return false;
}

void checkTolerations(const Inspect& spec, const json::Object& old) {
  for (const json::Value& one : arrayIn(old, "tolerations"))
    if (!containsEqual(spec.array("tolerations"), one))
      return spec.forbidden("tolerations",
                            "existing toleration can not be modified except its tolerationSeconds");
}

void checkGates(const Inspect& spec, const json::Object& old) {
  for (const json::Value& gate : spec.array("schedulingGates"))
    if (!containsEqual(arrayIn(old, "schedulingGates"), gate))
      return spec.forbidden("schedulingGates",
                            "only deletion is allowed, but found new scheduling gate");
}

// While gated a pod has not been looked at by any scheduler: its demands may still be tightened.
void allowTightening(json::Object& allowed, const Inspect& spec, const json::Object& old) {
  if (arrayIn(old, "schedulingGates").empty()) return;
  bool isTighter = true;
  for (const auto& label : objectIn(old, "nodeSelector")) {
    const json::Value* now = spec.map("nodeSelector").if_contains(label.key());
    isTighter = isTighter && now != nullptr && *now == label.value();
  }
  if (isTighter) takeOver(allowed, spec.object(), "nodeSelector");
  takeOver(allowed, spec.object(), "affinity");
}

}  // namespace

void validatePodUpdate(const json::Object& now, const json::Object& old, FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  const json::Object& before = objectIn(old, "spec");
  json::Object allowed = before;
  for (std::string_view list : {"containers", "initContainers"})
    takeOver(allowed, spec.object(), list, "image");
  for (std::string_view key : {"activeDeadlineSeconds", "tolerations", "schedulingGates"})
    takeOver(allowed, spec.object(), key);
  const json::Value* grace = before.if_contains("terminationGracePeriodSeconds");
  if (grace != nullptr && grace->is_int64() && grace->get_int64() < 0)
    takeOver(allowed, spec.object(), "terminationGracePeriodSeconds");
  allowTightening(allowed, spec, before);
  checkDeadline(spec, before);
  checkTolerations(spec, before);
  checkGates(spec, before);
  if (!json::equal(allowed, spec.object())) errors.forbidden(spec.at(), kOnlyThese);
}

void validatePodResize(const json::Object& now, const json::Object& old, FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  json::Object allowed = objectIn(old, "spec");
  for (std::string_view list : {"containers", "initContainers"})
    for (std::string_view key : {"resources", "resizePolicy"})
      takeOver(allowed, spec.object(), list, key);
  takeOver(allowed, spec.object(), "resources");
  if (!json::equal(allowed, spec.object()))
    errors.forbidden(spec.at(), "only cpu and memory resources are mutable");
}

void validateEphemeralContainers(const json::Object& now, const json::Object& old,
                                 FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  json::Object allowed = objectIn(old, "spec");
  for (const json::Value& one : arrayIn(allowed, "ephemeralContainers"))
    if (!containsEqual(spec.array("ephemeralContainers"), one))
      spec.forbidden("ephemeralContainers",
                     "existing ephemeral containers may not be changed or removed");
  takeOver(allowed, spec.object(), "ephemeralContainers");
  if (!json::equal(allowed, spec.object()))
    errors.forbidden(spec.at(), "only ephemeral containers may be added here");
}

}  // namespace mangrove::apiserver
