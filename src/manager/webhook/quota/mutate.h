#pragma once
// ElasticQuota mutating admission, on CREATE: parent, tree and weight are completed.
//
// Pure; any thread.

#include "manager/webhook/admission.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

Review mutateQuota(const AdmissionRequest& request, const Surroundings& around);

// The weight with exactly the keys of max: missing ones are taken from max, others dropped.
api::ResourceList completeWeight(const api::ResourceList& weight, const api::ResourceList& max);

}  // namespace mangrove::manager
