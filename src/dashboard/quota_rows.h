#pragma once
// Quotas as the pages and `mangrove top --by quota` show them: the trees from top to bottom, each
// quota with its amounts per resource, and who borrows from whom. Cores for cpu, units for the rest;
// null where nothing limits. What reservations hold for owners to come is used, and reserved.
//
//   json::Object board = quotaBoard(view, now);
//   {"quotas":[{"name":"team-a","depth":1,"parent":"org","tree":"","lends":true,"running":3,
//               "waiting":1,"resources":[{"name":"cpu","min":4,"used":6,"reserved":1,"runtime":8,
//               "max":16,"asked":9,"weight":16,"borrows":2,"since":"2026-…"}]}],
//    "loans":[{"borrower":"team-a","lender":"team-b","resource":"cpu","amount":2,"since":"…"}]}
//
// Pure functions, any thread.

#include <memory>
#include <vector>

#include "api/koordinator/elastic_quota.h"
#include "base/number/units.h"
#include "dashboard/rows.h"
#include "json/value.h"

namespace mangrove::dashboard {

using QuotaObjects = std::vector<std::shared_ptr<const api::ElasticQuota>>;

// Judged with the defaults of the scheduler's arguments.
json::Object quotaBoard(const ClusterView& view, const QuotaObjects& quotas, WallTime now);

}  // namespace mangrove::dashboard
