#pragma once
// Label selectors of objects (a budget's, a webhook's, a deployment's) on JSON values. A missing
// selector is the caller's business: some kinds then mean everything, others nothing. Pure.
//
//   auto wanted = selectorFrom(spec["selector"].get_object());
//   if (wanted && matchesLabels(*wanted, pod)) …

#include "api/select/selector.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::apiserver {

// {"matchLabels": …, "matchExpressions": …}; an empty one matches everything.
Result<api::Selector> selectorFrom(const json::Object& labelSelector);
// {"app": "web"} as replication controllers have it: all pairs must be there.
Result<api::Selector> selectorFromPairs(const json::Object& pairs);

// The labels of an object's metadata.
api::Labels labelsOf(const json::Object& object);
bool matchesLabels(const api::Selector& selector, const json::Object& object);

}  // namespace mangrove::apiserver
