#pragma once
// Which changes of a waiting pod are the colocation profile controller's own: classes
// may not change on a living pod, except as a profile that selects it says. The controller notes on
// the pod which revision of which profile it applied (pod_profiles.h); a change is its own when
// applying what the note gained gives exactly these classes. Whoever imitates that gets no more
// than the profile gives.
//
//   if (isByProfiles(request, pod, old, around)) …             // not judged against the old pod
//
// Pure; any thread.

#include "api/pod/pod.h"
#include "manager/webhook/admission.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

bool isByProfiles(const AdmissionRequest& request, const api::Pod& pod, const api::Pod& old,
                  const Surroundings& around);

}  // namespace mangrove::manager
