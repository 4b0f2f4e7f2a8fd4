#include "manager/controllers/colocationprofile/pod_profiles.h"

#include "api/annotations/annotation.h"
#include "api/wire/names.h"
#include "json/merge_schema.h"
#include "json/strategic_patch.h"
#include "manager/webhook/draft.h"
#include "manager/webhook/pod/apply_profile.h"

namespace mangrove::manager {
namespace {

bool carries(const json::Object& applied, std::string_view profile, std::string_view revision) {
  const json::Value* have = applied.if_contains(profile);
  return have && have->is_string() && std::string_view(have->get_string()) == revision;
}

}  // namespace

bool isControllerManaged(const api::ColocationProfile& profile, bool byDefault) {
  if (!profile.spec.selector) return false;  // here, unlike in admission, none means no pod
  return byDefault || api::isTrueLabel(profile.meta.labels, api::label::kControllerManaged);
}

json::Object appliedProfiles(std::string_view note) {
  auto parsed = json::parse(note);
  return parsed && parsed->is_object() ? parsed->get_object() : json::Object();
}

Result<> applyToWaiting(const Profile& profile, std::string_view revision, json::Value& pod) {
  if (!pod.is_object()) return invalid("the pod is no object");
  const auto note = annotationOf(pod.get_object(), kAppliedProfiles);
  json::Object applied = note ? appliedProfiles(*note) : json::Object();
  if (carries(applied, profile.name, revision)) return {};
  // Suffixes were appended by an earlier revision: once is enough.
  Profile rest = profile;
  if (applied.contains(profile.name)) rest.spec.labelSuffixes.clear();
  json::Value after = pod;
  applyMetadata(rest, metadataOf(after.get_object()));
  if (!profile.patch.is_null()) {
    auto ok = json::applyStrategicPatch(after, profile.patch, *json::mergeSchemaOf("", "Pod"));
    if (!ok) return ok.error().in("patch of profile {}", profile.name);
  }
  applied[profile.name] = revision;
  setText(objectIn(metadataOf(after.get_object()), "annotations"), kAppliedProfiles,
          api::writeLikeGo(applied));
  pod = std::move(after);
  return {};
}

}  // namespace mangrove::manager
