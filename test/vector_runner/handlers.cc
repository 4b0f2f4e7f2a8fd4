#include "vector_runner/handlers.h"

#include <array>

namespace mangrove::vectors {

namespace {

constexpr std::array kHandlers = {
    Handler{"annotation-parse", &annotationParse},
    Handler{"resource-amplification", &resourceAmplification},
    Handler{"nodeslo-render", &nodesloRender},
    Handler{"node-sync", &nodeSync},
    Handler{"mid-resource", &midResource},
    Handler{"cpu-normalization", &cpuNormalization},
    Handler{"colocation-config", &colocationConfig},
    Handler{"batch-zone-update", &batchZoneUpdate},
    Handler{"batch-resource", &batchResource},
    Handler{"batch-prepare", &batchPrepare},
    Handler{"cgroup-paths", &cgroupPaths},
    Handler{"cgroup-stat-parse", &cgroupStatParse},
    Handler{"cpu-conversions", &cpuConversions},
    Handler{"cpu-burst", &cpuBurst},
    Handler{"cpu-burst-limiter", &cpuBurstLimiter},
    Handler{"cpu-burst-quota", &cpuBurstQuota},
    Handler{"memory-qos", &memoryQos},
    Handler{"memory-evict", &evict},
    Handler{"cpu-evict", &evict},
    Handler{"resctrl", &resctrl},
    Handler{"blkio", &blkio},
    Handler{"system-config-files", &systemConfigFiles},
    Handler{"hook-cpuset", &hookCpuset},
    Handler{"hook-batch-resource", &hookBatchResource},
    Handler{"hook-group-identity", &hookGroupIdentity},
    Handler{"cpu-suppress-budget", &cpuSuppressBudget},
    Handler{"cpu-suppress-cpuset", &cpuSuppressCpuset},
    Handler{"cpu-suppress-pick", &cpuSuppressPick},
    Handler{"cpu-suppress-quota", &cpuSuppressQuota},
    Handler{"cpuset", &cpuset},
    Handler{"decaying-histogram", &decayingHistogram},
    Handler{"descheduler-anomaly-detector", &deschedulerDetector},
    Handler{"descheduler-arbitration-order", &deschedulerArbitrationOrder},
    Handler{"descheduler-arbitration", &deschedulerArbitration},
    Handler{"descheduler-lownodeload-classify", &deschedulerClassify},
    Handler{"descheduler-lownodeload-evict", &deschedulerLoadEvict},
    Handler{"descheduler-lownodeload-rounds", &deschedulerLoadRounds},
    Handler{"descheduler-max-unavailable", &deschedulerMaxUnavailable},
    Handler{"descheduler-pod-order", &deschedulerPodOrder},
    Handler{"device-allocate", &deviceAllocate},
    Handler{"device-request", &deviceRequest},
    Handler{"histogram-buckets", &histogramBuckets},
    Handler{"metric-aggregation", &metricAggregation},
    Handler{"configmap-admission", &configMapAdmission},
    Handler{"node-status-amplification", &nodeStatusAmplification},
    Handler{"pod-classes", &podClasses},
    Handler{"pod-mutating", &podMutating},
    Handler{"pod-mutating-device", &podMutatingDevice},
    Handler{"pod-validating", &podValidating},
    Handler{"prod-reclaimable", &prodReclaimable},
    Handler{"quantity", &quantity},
    Handler{"queue-sort", &queueSort},
    Handler{"gang-parse", &gangParse},
    Handler{"gang-permit", &gangPermit},
    Handler{"quota-waterfill", &quotaWaterfill},
    Handler{"quota-tree", &quotaTree},
    Handler{"quota-guarantee", &quotaGuarantee},
    Handler{"reservation-expiry", &reservationExpiry},
    Handler{"reservation-fit", &reservationFit},
    Handler{"reservation-match", &reservationMatch},
    Handler{"reservation-owner-match", &reservationOwnerMatch},
    Handler{"reservation-preallocation", &reservationPreAllocation},
    Handler{"score-primitives", &scorePrimitives},
    Handler{"score-normalize", &scoreNormalize},
    Handler{"loadaware-estimate", &loadawareEstimate},
    Handler{"loadaware-filter-score", &loadawareFilterScore},
    Handler{"numa-cpu-accumulator", &numaCpuAccumulator},
    Handler{"numa-hints", &numaHints},
    Handler{"numa-policy-merge", &numaPolicyMerge},
    Handler{"numa-allocate", &numaAllocate},
};

}  // namespace

std::span<const Handler> handlers() {
  return kHandlers;
}

const json::Value& member(const json::Object& c, std::string_view key) {
  static const json::Value kNull;
  const json::Value* found = c.if_contains(key);
  return found ? *found : kNull;
}

std::string_view text(const json::Object& c, std::string_view key) {
  const json::Value& value = member(c, key);
  return value.is_string() ? std::string_view(value.get_string()) : std::string_view();
}

double number(const json::Object& c, std::string_view key, double fallback) {
  const json::Value& value = member(c, key);
  return value.is_number() ? value.to_number<double>() : fallback;
}

}  // namespace mangrove::vectors
