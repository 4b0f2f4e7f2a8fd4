#pragma once
// What a profile changes in a pod that exists already: metadata and its patch, never scheduler,
// priority class or resources (spec 02 §3.7). Which revision of which profile a pod carries is
// noted on the pod, so that suffixes are appended once, whoever runs and however often (M14).
//
//   auto patch = profilePatch(profile, "7", podJson);       // {} when there is nothing to do
//
// Pure; any thread.

#include <string>
#include <string_view>

#include "api/koordinator/colocation_profile.h"
#include "manager/profile/profile.h"

namespace mangrove::manager {

inline constexpr std::string_view kAppliedProfiles = "mangrove.io/applied-profiles";

// Whether the controller acts on a profile at all.
bool isControllerManaged(const api::ColocationProfile& profile, bool byDefault);

// The merge patch for the pod; an empty object when it carries this revision already. Fails when
// the profile's patch does not fit the pod.
Result<json::Value> profilePatch(const Profile& profile, std::string_view revision,
                                 const json::Value& pod);

}  // namespace mangrove::manager
