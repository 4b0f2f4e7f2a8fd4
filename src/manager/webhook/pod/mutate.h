#pragma once
// Pod mutating admission, on CREATE: other systems' QoS words, colocation profiles,
// translation to reclaimed resources, the extended-resource-spec annotation, the nodes of a quota
// tree, GPU requests.
//
// Pure; any thread.

#include "api/pod/pod.h"
#include "base/result.h"
#include "manager/webhook/admission.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

Review mutatePod(const AdmissionRequest& request, const Surroundings& around);

// Whether any step has something to do: most pods of a cluster end here, unread.
bool podNeedsWork(const api::Pod& pod, std::string_view ns, const Surroundings& around);

}  // namespace mangrove::manager
