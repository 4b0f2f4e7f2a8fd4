#pragma once
// The numbers of quotas and why a pod waits, as JSON for people and programs. The reference's
// members keep its names.
//
//   quotas                  every quota by name, with its numbers
//   quota/NAME, quotas/NAME one of them, with its pods, who borrows from whom below its parent
//   pods/UID                the pod's quota, every refusal on the way up, the least change that
//                           would admit it, and its place in line
//
// Owner thread.

#include <optional>
#include <string_view>

#include "json/value.h"
#include "placement/plugins/elasticquota/keeper.h"
#include "placement/plugins/elasticquota/quota_desk.h"

namespace mangrove::placement {

// nullopt: there is no such thing.
std::optional<json::Value> quotaPage(const QuotaDesk& desk, const Borrowings& borrowings,
                                     std::string_view path);

// Pieces of it. Since when by the objects' own annotations, for those who only have the objects.
Borrowings borrowingsOn(const Cluster& cluster);
json::Array borrowedBy(const QuotaPlace& place, const Borrowings& borrowings);
// {"borrower", "lender" ("" for what nobody's minimum covers), "resource", "amount", "since"}
json::Array loansOf(const QuotaLedger& ledger, const Borrowings& borrowings);

}  // namespace mangrove::placement
