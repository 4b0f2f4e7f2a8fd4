#include "manager/controllers/colocationprofile/pod_profiles.h"

#include "api/annotations/annotation.h"
#include "api/names.h"
#include "json/merge_patch.h"
#include "json/merge_schema.h"
#include "json/strategic_patch.h"
#include "manager/webhook/draft.h"
#include "manager/webhook/pod/apply_profile.h"

namespace mangrove::manager {
namespace {

// {"profile": "revision"}; anything unreadable counts as nothing.
json::Object appliedTo(const json::Object& pod) {
  const auto text = annotationOf(pod, kAppliedProfiles);
  auto parsed = text ? json::parse(*text) : Result<json::Value>(json::Object());
  return parsed && parsed->is_object() ? parsed->get_object() : json::Object();
}

bool carries(const json::Object& applied, std::string_view profile, std::string_view revision) {
  const json::Value* have = applied.if_contains(profile);
  return have && have->is_string() && std::string_view(have->get_string()) == revision;
}

}  // namespace

bool isControllerManaged(const api::ColocationProfile& profile, bool byDefault) {
  if (!profile.spec.selector) return false;  // here, unlike in admission, none means no pod
  return byDefault || api::isTrueLabel(profile.meta.labels, api::label::kControllerManaged);
}

Result<json::Value> profilePatch(const Profile& profile, std::string_view revision,
                                 const json::Value& pod) {
  if (!pod.is_object()) return invalid("the pod is no object");
  json::Object applied = appliedTo(pod.get_object());
  if (carries(applied, profile.name, revision)) return json::Value(json::Object());
  // Suffixes were appended by an earlier revision: once is enough.
  Profile rest = profile;
  if (applied.contains(profile.name)) rest.spec.labelSuffixes.clear();
  json::Value after = pod;
  json::Object& metadata = metadataOf(after.get_object());
  applyMetadata(rest, metadata);
  if (!profile.patch.is_null()) {
    auto ok = json::applyStrategicPatch(after, profile.patch, *json::mergeSchemaOf("", "Pod"));
    if (!ok) return ok.error().in("patch of profile {}", profile.name);
  }
  applied[profile.name] = revision;
  setText(objectIn(metadataOf(after.get_object()), "annotations"), kAppliedProfiles,
          api::writeLikeGo(applied));
  return json::mergeDiff(pod, after);
}

}  // namespace mangrove::manager
