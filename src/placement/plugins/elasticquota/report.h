#pragma once
// The figures of a quota on its object, as far as they are not there already.
//
//   if (auto body = figuresPatch(object, numbers)) write(*body);
//
// Entries of zero count as absent when compared, so that an idle tree is never written. Pure; any
// thread.

#include <optional>

#include "api/koordinator/elastic_quota.h"
#include "json/value.h"
#include "placement/quota/ledger.h"

namespace mangrove::placement {

// A merge patch of annotations and status.used; nullopt: nothing has changed.
std::optional<json::Object> figuresPatch(const api::ElasticQuota& object,
                                         const QuotaNumbers& numbers);

}  // namespace mangrove::placement
