#pragma once
// The root quota that an ElasticQuotaProfile stands for: what its nodes have, times a ratio.
//
//   worked: two nodes of 10 cores, one NotReady, ratio 0.9 → min 18, unschedulable 9
//
// Pure; any thread.

#include <map>
#include <span>
#include <string>

#include "api/koordinator/elastic_quota.h"
#include "api/koordinator/quota_profile.h"
#include "api/object/node.h"
#include "base/result.h"
#include "json/fwd.h"

namespace mangrove::manager {

// Of any resource: as good as unlimited, and safe to add up.
inline constexpr int64_t kUnlimited = 4611686018427387;  // MaxInt64 / 2000

// The label when it is there, else made from the profile's name, so that it is the same each time.
std::string treeIdOf(const api::QuotaProfile& profile);

struct ProfiledQuota {
  std::string treeId;
  std::map<std::string, std::string> labels;  // to be there, beside others
  api::ResourceList total;                    // annotation total-resource
  api::ResourceList unschedulable;            // annotation unschedulable-resource
  api::ElasticQuotaSpec spec;
};
// `nodes` are those the profile selects. Fails when the annotation resource-keys cannot be read.
Result<ProfiledQuota> quotaOf(const api::QuotaProfile& profile,
                              std::span<const api::Node* const> nodes);

// The merge patch that makes `quota` what it should be; empty when it is already.
json::Object patchOf(const api::ElasticQuota& quota, const ProfiledQuota& wanted);
json::Object objectOf(const api::QuotaProfile& profile, const ProfiledQuota& wanted);

}  // namespace mangrove::manager
