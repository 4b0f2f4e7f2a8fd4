#include "manager/webhook/pod/apply_profile.h"

#include <string>

#include "api/wire/names.h"
#include "json/strategic_patch.h"
#include "manager/webhook/draft.h"

namespace mangrove::manager {
namespace {

using Texts = std::map<std::string, std::string>;

void putAll(json::Object& metadata, std::string_view map, const Texts& entries) {
  if (entries.empty()) return;
  json::Object& target = objectIn(metadata, map);
  for (const auto& [key, value] : entries) setText(target, key, value);
}

// old → new for every old key that is there; the reference writes "" for the others.
void copyKeys(json::Object& metadata, std::string_view map, const Texts& mapping) {
  json::Object* target = findObject(metadata, map);
  if (target == nullptr) return;
  for (const auto& [from, to] : mapping) {
    const auto value = textIn(*target, from);
    if (value) setText(*target, to, std::string(*value));
  }
}

void appendSuffixes(json::Object& metadata, const Texts& suffixes) {
  json::Object* labels = findObject(metadata, "labels");
  if (labels == nullptr) return;
  for (const auto& [key, suffix] : suffixes) {
    const auto value = textIn(*labels, key);
    if (value) setText(*labels, key, std::string(*value) + suffix);
  }
}

std::string_view preemptionName(api::PreemptionPolicy policy) {
  if (policy == api::PreemptionPolicy::kNever) return "Never";
  return policy == api::PreemptionPolicy::kUnset ? "" : "PreemptLowerPriority";
}

}  // namespace

void applyMetadata(const Profile& profile, json::Object& metadata) {
  const api::ColocationProfileSpec& spec = profile.spec;
  putAll(metadata, "labels", spec.labels);
  putAll(metadata, "annotations", spec.annotations);
  copyKeys(metadata, "labels", spec.labelKeysMapping);
  copyKeys(metadata, "annotations", spec.annotationKeysMapping);
  appendSuffixes(metadata, spec.labelSuffixes);
  if (!spec.qosClass.empty())
    setText(objectIn(metadata, "labels"), api::label::kQosClass, spec.qosClass);
  if (spec.koordinatorPriority)
    setText(objectIn(metadata, "labels"), api::label::kPriority,
            std::to_string(*spec.koordinatorPriority));
}

Result<> setPriorityClass(json::Object& podSpec, std::string_view name,
                          const PriorityClasses& classes) {
  const auto found = classes.find(name);
  if (found == classes.end())
    return fail(Code::kNotFound, "PriorityClass '{}' does not exist", name);
  setText(podSpec, "priorityClassName", name);
  podSpec.insert_or_assign("priority", found->second.value);
  const std::string_view policy = preemptionName(found->second.preemption);
  if (policy.empty())
    podSpec.erase("preemptionPolicy");
  else
    setText(podSpec, "preemptionPolicy", policy);
  return {};
}

Result<> applyProfile(const Profile& profile, ProfileTarget target,
                      const PriorityClasses& classes) {
  applyMetadata(profile, metadataOf(target.object.get_object()));
  if (target.podSpec != nullptr) {
    if (!profile.spec.schedulerName.empty())
      setText(*target.podSpec, "schedulerName", profile.spec.schedulerName);
    if (!profile.spec.priorityClassName.empty()) {
      auto set = setPriorityClass(*target.podSpec, profile.spec.priorityClassName, classes);
      if (!set) return set.error().in("ClusterColocationProfile {}", profile.name);
    }
  }
  if (profile.patch.is_null()) return {};
  auto patched = json::applyStrategicPatch(target.object, profile.patch, target.schema);
  if (!patched) return patched.error().in("ClusterColocationProfile {}: spec.patch", profile.name);
  return {};
}

}  // namespace mangrove::manager
