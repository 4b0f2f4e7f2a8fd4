#include "api/koordinator/colocation_strategy.h"

#include "api/annotations/annotation.h"
#include "api/wire/schema.h"

namespace mangrove::api {

using AggregatePolicy = ColocationStrategy::AggregatePolicy;
static constexpr Schema kAggregate{unlessUnset<&AggregatePolicy::durations>("durations")};
bool read(const In& in, ColocationStrategy::AggregatePolicy& out) {
  return kAggregate.read(in, out);
}
json::Value toJson(const ColocationStrategy::AggregatePolicy& value) {
  return kAggregate.write(value);
}

using S = ColocationStrategy;
static constexpr Schema kStrategy{
    unlessUnset<&S::enable>("enable"),
    unlessUnset<&S::metricAggregateDurationSeconds>("metricAggregateDurationSeconds"),
    unlessUnset<&S::metricReportIntervalSeconds>("metricReportIntervalSeconds"),
    unlessUnset<&S::metricAggregatePolicy>("metricAggregatePolicy"),
    unlessUnset<&S::metricMemoryCollectPolicy>("metricMemoryCollectPolicy"),
    unlessUnset<&S::cpuReclaimThresholdPercent>("cpuReclaimThresholdPercent"),
    unlessUnset<&S::cpuCalculatePolicy>("cpuCalculatePolicy"),
    unlessUnset<&S::memoryReclaimThresholdPercent>("memoryReclaimThresholdPercent"),
    unlessUnset<&S::memoryCalculatePolicy>("memoryCalculatePolicy"),
    unlessUnset<&S::degradeTimeMinutes>("degradeTimeMinutes"),
    unlessUnset<&S::updateTimeThresholdSeconds>("updateTimeThresholdSeconds"),
    unlessUnset<&S::resourceDiffThreshold>("resourceDiffThreshold"),
    unlessUnset<&S::midReclaimMode>("midReclaimMode"),
    unlessUnset<&S::midCpuThresholdPercent>("midCPUThresholdPercent"),
    unlessUnset<&S::midMemoryThresholdPercent>("midMemoryThresholdPercent"),
    unlessUnset<&S::midUnallocatedPercent>("midUnallocatedPercent"),
    unlessUnset<&S::midStaticCpuReservedPercent>("midStaticCPUReservedPercent"),
    unlessUnset<&S::midStaticMemoryReservedPercent>("midStaticMemoryReservedPercent"),
    unlessUnset<&S::batchCpuThresholdPercent>("batchCPUThresholdPercent"),
    unlessUnset<&S::batchMemoryThresholdPercent>("batchMemoryThresholdPercent"),
    unlessUnset<&S::extensions>("extensions"),
};
bool read(const In& in, ColocationStrategy& out) {
  return kStrategy.read(in, out);
}
json::Value toJson(const ColocationStrategy& value) {
  return kStrategy.write(value);
}

Result<std::optional<ColocationStrategy>> parseColocationStrategy(const Annotations& node) {
  return parseAnnotation<ColocationStrategy>(node, annotation::kColocationStrategy,
                                             WhenEmpty::kAbsent);
}

}  // namespace mangrove::api
