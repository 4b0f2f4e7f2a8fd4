#pragma once
// How much of a node is for sale: the ConfigMap key colocation-config and the node annotation
// colocation-strategy. An unset member is "not said here"; defaults belong to
// whoever merges.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/select/labels.h"
#include "api/wire/decode.h"
#include "base/number/units.h"
#include "base/result.h"
#include "json/fwd.h"

namespace mangrove::api {

struct ColocationStrategy {
  struct AggregatePolicy {
    std::vector<Duration> durations;
    bool operator==(const AggregatePolicy&) const = default;
  };
  std::optional<bool> enable;
  std::optional<int64_t> metricAggregateDurationSeconds;
  std::optional<int64_t> metricReportIntervalSeconds;
  std::optional<AggregatePolicy> metricAggregatePolicy;
  std::optional<std::string> metricMemoryCollectPolicy;
  std::optional<Percent> cpuReclaimThresholdPercent;
  std::optional<std::string> cpuCalculatePolicy;  // usage, maxUsageRequest
  std::optional<Percent> memoryReclaimThresholdPercent;
  std::optional<std::string> memoryCalculatePolicy;  // usage, request, maxUsageRequest
  std::optional<int64_t> degradeTimeMinutes;
  std::optional<int64_t> updateTimeThresholdSeconds;
  std::optional<double> resourceDiffThreshold;
  std::optional<std::string> midReclaimMode;  // static
  std::optional<Percent> midCpuThresholdPercent;
  std::optional<Percent> midMemoryThresholdPercent;
  std::optional<Percent> midUnallocatedPercent;
  std::optional<Percent> midStaticCpuReservedPercent;
  std::optional<Percent> midStaticMemoryReservedPercent;
  std::optional<Percent> batchCpuThresholdPercent;
  std::optional<Percent> batchMemoryThresholdPercent;
  std::map<std::string, RawJson> extensions;
  bool operator==(const ColocationStrategy&) const = default;
};
bool read(const In& in, ColocationStrategy::AggregatePolicy& out);
json::Value toJson(const ColocationStrategy::AggregatePolicy& value);
bool read(const In& in, ColocationStrategy& out);
json::Value toJson(const ColocationStrategy& value);

// "" is absent.
Result<std::optional<ColocationStrategy>> parseColocationStrategy(const Annotations& node);

}  // namespace mangrove::api
