#pragma once
// What is written when a pod is sent away: the mark on its status, and the request that ends it. Pure
// functions, any thread.

#include <string>
#include <string_view>

#include "api/object/meta.h"
#include "base/number/units.h"
#include "client/api_client.h"

namespace mangrove::scheduler {

std::string victimStatus(std::string_view profile, WallTime now);
std::string revokedStatus(std::string_view reason, WallTime now);
// Both name the uid. The server asks the budgets before an eviction.
client::Request victimDeletion(const api::ObjectMeta& victim);
client::Request eviction(const api::ObjectMeta& pod);

}  // namespace mangrove::scheduler
