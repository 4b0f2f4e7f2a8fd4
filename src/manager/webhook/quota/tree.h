#pragma once
// The quota tree as admission sees it. What quotas are and which one a pod counts in is the
// scheduler's own (placement/quota/quota.h), under the names that admission uses; here is what only
// admission asks for.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/quota/quota.h"

namespace mangrove::manager {

using placement::Quota;
using placement::quotaOf;
using placement::QuotaTree;

struct PodsOfQuota {
  size_t count = 0;
  std::vector<std::string> names;  // of the first two, "ns/name"
};
// Pods labelled with the quota or living in one of the namespaces.
using AskPodsOfQuota =
    std::function<PodsOfQuota(std::string_view quota, const std::vector<std::string>& namespaces)>;

}  // namespace mangrove::manager
