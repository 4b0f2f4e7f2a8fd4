#pragma once
// Who may be evicted, by what, in which order, and the note that somebody is to be.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/annotations/annotation.h"

namespace mangrove::api {

// Label eviction-enabled.
bool isEvictionEnabled(const Labels& pod);

// The policies by which a pod may be evicted; nullopt: by any.
Result<std::optional<std::vector<std::string>>> parseEvictionPolicies(const Annotations& pod);
// False also when the annotation cannot be read: in doubt the pod stays.
bool isEvictableBy(const Annotations& pod, std::string_view policy);

// Lower goes first, ahead of priority. 0 when absent; callers use 0 on an error as well.
Result<int32_t> parseEvictionPriority(const Annotations& pod);

inline constexpr int32_t kNeverEvictCost = 2147483647;
// 0 when absent. A leading '+' or zero is an error, as for Kubernetes' pod-deletion-cost.
Result<int32_t> parseEvictionCost(const Annotations& pod);

struct SoftEviction {
  WallTime timestamp = kZeroTime;
  std::optional<RawJson> deleteOptions;
  std::string initiator;
  std::string reason;
  bool operator==(const SoftEviction&) const = default;
};
bool read(const In& in, SoftEviction& out);
json::Value toJson(const SoftEviction& value);
Result<std::optional<SoftEviction>> parseSoftEviction(const Annotations& pod);

}  // namespace mangrove::api
