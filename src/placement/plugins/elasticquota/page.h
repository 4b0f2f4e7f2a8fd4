#pragma once
// The numbers of quotas and why a pod waits, as JSON for people and programs.
//
//   quotas             every quota with its numbers
//   quotas/NAME        one of them, with who borrows from whom below its parent
//   pods/UID           the pod's quota, every refusal on the way up, the least change that would
//                      admit it, and its place in line
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
                                     std::string_view path, WallTime now);

}  // namespace mangrove::placement
