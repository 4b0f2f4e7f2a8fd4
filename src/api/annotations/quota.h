#pragma once
// The quota tree's shape (labels) and figures (annotations) on ElasticQuota objects, and what pods
// say about quotas. Resource annotations are JSON resource lists; "" is absent.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/annotations/annotation.h"
#include "api/koordinator/elastic_quota.h"
#include "api/pod/resource_list.h"

namespace mangrove::api {

// Labels of a quota.
bool isParentQuota(const Labels& quota);
bool isRootQuota(const Labels& quota);         // the root of its own tree
bool allowsLending(const Labels& quota);       // unless "false"
bool allowsForceUpdate(const Labels& quota);   // is exactly "true"
bool ignoresDefaultTree(const Labels& quota);  // is exactly "true"
std::string_view quotaTreeIdOf(const Labels& quota);
std::string_view quotaProfileOf(const Labels& quota);
// Without a label: the root quota, and for the root quota itself "".
std::string_view parentQuotaOf(const ObjectMeta& quota);
// system and root belong to the system: nobody may change them.
bool isReservedQuota(std::string_view name);

// Labels of a pod.
std::string_view quotaNameOf(const Labels& pod);  // "" when absent
Interned quotaHandleOf(const Labels& pod);        // the same, no text looked up
bool isPreemptibleInQuota(const Labels& pod);     // unless "false"

// What the scheduler writes on a quota and reads back: pass one of annotation::kQuotaRuntime,
// kQuotaRequest, kQuotaChildRequest, kQuotaTotalResource, kQuotaUnschedulableResource,
// kQuotaGuaranteed, kQuotaAllocated, kQuotaNonPreemptibleRequest, kQuotaNonPreemptibleUsed,
// kQuotaAdmission.
Result<std::optional<ResourceList>> parseQuotaResources(const Annotations& quota,
                                                        std::string_view key);
// The weight in dividing what is left; the quota's max when absent, unreadable or all zero.
ResourceList sharedWeightOf(const ElasticQuota& quota);

// JSON arrays of text: annotation::kQuotaNamespaces, kQuotaResourceKeys,
// kQuotaMaxStrictCheckResourceKeys.
Result<std::optional<std::vector<std::string>>> parseQuotaList(const Annotations& quota,
                                                               std::string_view key);

}  // namespace mangrove::api
