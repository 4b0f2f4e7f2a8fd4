#pragma once
// What an object counts against a ResourceQuota, and whether that quota is about it. Pure
// functions on values.
//
//   if (quotaCovers(quota, pods, pod)) used += usageOf(pods, pod, hardNames(quota));

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/kinds/catalogue.h"
#include "base/number/quantity.h"
#include "json/value.h"

namespace mangrove::apiserver {

using Usage = std::map<std::string, Quantity>;

// Everything the object uses, by the names quotas know: "pods", "requests.cpu",
// "count/jobs.batch", "services.nodeports". Pods that have ended use nothing but their count/.
Usage usageOf(const KindInfo& kind, const json::Object& object);
// By spec.scopes and spec.scopeSelector; pods alone have scopes.
bool quotaCovers(const json::Object& quota, const KindInfo& kind, const json::Object& object);
// spec.hard.
Usage hardOf(const json::Object& quota);
Usage usedOf(const json::Object& quota);
// Only what is named in `names`.
Usage masked(const Usage& usage, const Usage& names);
// "" when the object names everything this quota needs: "must specify requests.cpu for: c".
std::string missingFor(const Usage& hard, const KindInfo& kind, const json::Object& object);
// "" when `used` and `more` fit; else "exceeded quota: …".
std::string excess(std::string_view quota, const Usage& hard, const Usage& used, const Usage& more);
json::Object toJson(const Usage& usage);

}  // namespace mangrove::apiserver
