#pragma once
// ElasticQuotaArgs, the reference's names and defaults, and two of our own: `reclaim` and
// `fairOverTime`.
//
//   auto args = readQuotaArgs(value);      // "ElasticQuotaArgs: delayEvictTime: …"
//
// Pure, any thread.

#include <optional>
#include <string>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "json/value.h"
#include "placement/plugins/elasticquota/hooks/hook.h"
#include "placement/quota/amounts.h"

namespace mangrove::placement {

struct QuotaArgs {
  Duration delayEvictTime = std::chrono::seconds(120);
  Duration revokePodInterval = std::chrono::seconds(1);
  Amounts defaultMax, systemMax;  // 2^63/5 of cpu and memory unless said otherwise
  std::string quotaGroupNamespace = "koordinator-system";
  bool monitorAllQuotas = false;  // overuse revoke
  // The reference looks at the pod's own quota only unless asked; here parents are looked at unless
  // the file says false.
  bool checkParents = true;
  bool runtime = true;
  bool scaleMins = true;
  bool sparesDefaultQuota = true;  // disableDefaultQuotaPreemption
  // Ours. Take back from borrowers what a pod within its minimum needs; off with a file of the
  // reference.
  bool reclaim = false;
  // Ours. What a quota borrowed counts against it and is half forgotten after this time.
  std::optional<Duration> fairHalfLife;
  std::optional<std::vector<std::string>> fairTrees;  // tree ids; unset: all trees
  std::vector<HookWish> hooks;
  bool isFair(std::string_view treeId) const;
};

Result<QuotaArgs> readQuotaArgs(const json::Value& value);

}  // namespace mangrove::placement
