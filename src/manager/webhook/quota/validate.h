#pragma once
// ElasticQuota validating admission: a quota is sound by itself, and the tree stays
// sound with it. Judged against the tree as the caches have it, plus what was admitted a moment ago
// and is not in the caches yet (quota_desk.h); nothing is remembered here.
//
// Pure but for Surroundings::podsOfQuota, which looks into caches of the owner thread: call it
// there.

#include "manager/webhook/admission.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

Review validateQuota(const AdmissionRequest& request, const Surroundings& around);

// The parts, for tests. `old` is null on CREATE.
Result<> checkQuotaItself(const Quota& quota);
Result<> checkNamespaces(const Quota& quota, const QuotaTree& tree);
Result<> checkTopology(const Quota& quota, const Quota* old, const Surroundings& around);
Result<> checkDeletion(const Quota& quota, const Surroundings& around);

}  // namespace mangrove::manager
