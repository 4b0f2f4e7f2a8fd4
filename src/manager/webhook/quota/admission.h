#pragma once
// Quota admission: a pod is refused when its quota has no
// room for it, and what it asks for is booked on the quota at once, in annotation child-request.
//
//   auto booked = bookOn(quota, requests);          // child-request with the pod, or why not
//
// Pure; any thread.

#include <optional>
#include <string>

#include "api/pod/pod.h"
#include "base/result.h"
#include "manager/webhook/quota/tree.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

// What a pod takes of a quota: its total requests; nothing once it is over, or past the end of its
// grace period (`now`).
api::ResourceList chargeOf(const api::Pod& pod, const WebhookGates& gates, WallTime now);

// The quota a pod is to be charged to; "" when none is: no CREATE, no move to another quota, or a
// quota of the system.
std::string quotaToCharge(const api::Pod& pod, const api::Pod* old, std::string_view ns,
                          const Surroundings& around);

// child-request with the pod on top. The limit is annotation admission, else spec.max; every
// resource that spec.max names counts, and one that the limit does not name is unlimited.
Result<api::ResourceList> bookOn(const Quota& quota, const api::ResourceList& request);

// How often a booking of so many pods is tried: 3, and one more for each doubling, at most `most`.
int retryBudget(size_t pods, int most);

}  // namespace mangrove::manager
