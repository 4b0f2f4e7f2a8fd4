#include "manager/webhook/pod/profile_writes.h"

#include "api/pod/classes.h"
#include "api/wire/names.h"
#include "manager/controllers/colocationprofile/pod_profiles.h"

namespace mangrove::manager {
namespace {

json::Object notedOn(const api::Pod& pod) {
  return appliedProfiles(pod.meta.annotations.get(kAppliedProfiles).value_or(""));
}

bool sameClasses(const api::Pod& a, const api::Pod& b) {
  return api::rawQos(a.meta.labels) == api::rawQos(b.meta.labels) &&
         api::rawBand(a) == api::rawBand(b) &&
         a.meta.labels.get(api::label::kPriority).value_or("") ==
             b.meta.labels.get(api::label::kPriority).value_or("");
}

// The old pod after the profiles that the note gained; nullopt when it gained none.
std::optional<json::Value> afterProfiles(const AdmissionRequest& request, const api::Pod& pod,
                                         const api::Pod& old, const Surroundings& around) {
  const json::Object before = notedOn(old), now = notedOn(pod);
  const api::Labels* ns = around.labelsOf(request.ns);
  json::Value out = json::toValue(request.oldObject);
  bool any = false;
  for (const auto& profile : around.profiles->all()) {
    const json::Value* revision = now.if_contains(profile->name);
    const json::Value* had = before.if_contains(profile->name);
    if (revision == nullptr || !revision->is_string() || (had && *had == *revision)) continue;
    if (!profile->trouble.empty() || !profile->selects(ns, old.meta.labels)) continue;
    if (!applyToWaiting(*profile, std::string_view(revision->get_string()), out))
      return std::nullopt;
    any = true;
  }
  return any ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

bool isByProfiles(const AdmissionRequest& request, const api::Pod& pod, const api::Pod& old,
                  const Surroundings& around) {
  if (!old.nodeName.view().empty() || sameClasses(pod, old)) return false;
  const auto expected = afterProfiles(request, pod, old, around);
  if (!expected) return false;
  const auto wanted = api::decodeText<api::Pod>(json::write(*expected));
  return wanted && sameClasses(*wanted, pod);
}

}  // namespace mangrove::manager
