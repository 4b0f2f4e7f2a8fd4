#pragma once
// What profiles change in a pod that exists already: metadata and their patches, never scheduler,
// priority class or resources. Which revision of which profile a pod carries is
// noted on the pod, so that suffixes are appended once, whoever runs and however often, and so that
// admission knows the controller's changes from other people's.
//
//   json::Value after = pod;
//   for (const auto& profile : index.all()) (void)applyToWaiting(*profile, "7", after);
//   patch = json::mergeDiff(pod, after);                  // {} when there is nothing to do
//
// Pure; any thread.

#include <string>
#include <string_view>

#include "api/koordinator/colocation_profile.h"
#include "api/select/labels.h"
#include "manager/profile/profile.h"

namespace mangrove::manager {

inline constexpr std::string_view kAppliedProfiles = "mangrove.io/applied-profiles";

// Whether the controller acts on a profile at all.
bool isControllerManaged(const api::ColocationProfile& profile, bool byDefault);

// Changes the pod, or nothing when it carries this revision already. Fails, and then changes
// nothing, when the profile's patch does not fit the pod.
Result<> applyToWaiting(const Profile& profile, std::string_view revision, json::Value& pod);

// {"profile": "revision"} from the note on a pod; empty when there is none or it is unreadable.
json::Object appliedProfiles(std::string_view note);

}  // namespace mangrove::manager
