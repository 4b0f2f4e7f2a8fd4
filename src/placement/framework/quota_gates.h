#pragma once
// The feature gates of quotas, as the role has them; the reference's names and defaults.

namespace mangrove::placement {

struct QuotaGates {
  bool manyTrees = false;             // MultiQuotaTree
  bool ignoreOverhead = false;        // ElasticQuotaIgnorePodOverhead
  bool ignoreTerminating = false;     // ElasticQuotaIgnoreTerminatingPod: past its grace period
  bool ignoreTerminatingNow = false;  // ElasticQuotaImmediateIgnoreTerminatingPod
  bool guaranteeUsage = false;        // ElasticQuotaGuaranteeUsage
  bool noDefaultQuota = false;        // DisableDefaultQuota
};

}  // namespace mangrove::placement
