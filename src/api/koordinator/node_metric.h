#pragma once
// NodeMetric (slo.koordinator.sh): what the agent measured on one node. Named like the node; the
// manager writes the spec, the agent the status.
//
//   const AggregatedUsage* u = usageOver(metric.status.nodeMetric->aggregatedNodeUsages, 5min);
//   const ResourceMap* p95 = u ? u->at(Aggregation::kP95) : nullptr;
//
// Five thousand of these live in the scheduler, so the aggregates are an array, not a map.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/device.h"
#include "api/koordinator/extensions.h"
#include "api/object/meta.h"
#include "api/pod/resource_list.h"
#include "json/fwd.h"

namespace mangrove::api {

struct ResourceMap {
  ResourceList resources;
  std::vector<DeviceInfo> devices;
  bool operator==(const ResourceMap&) const = default;
};
bool read(const In& in, ResourceMap& out);
json::Value toJson(const ResourceMap& value);

enum class Aggregation : uint8_t { kAvg, kP50, kP90, kP95, kP99 };
inline constexpr size_t kAggregations = 5;
std::string_view aggregationName(Aggregation aggregation);  // "avg", "p50", …
std::optional<Aggregation> aggregationOf(std::string_view name);

struct AggregatedUsage {
  Duration duration{};
  // By Aggregation; a kind we do not know is not kept.
  std::array<std::optional<ResourceMap>, kAggregations> usage;

  // nullptr when it was not reported.
  const ResourceMap* at(Aggregation aggregation) const {
    const auto& slot = usage[static_cast<size_t>(aggregation)];
    return slot ? &*slot : nullptr;
  }
  void set(Aggregation aggregation, ResourceMap value) {
    usage[static_cast<size_t>(aggregation)] = std::move(value);
  }
  bool operator==(const AggregatedUsage&) const = default;
};
bool read(const In& in, AggregatedUsage& out);
json::Value toJson(const AggregatedUsage& value);

struct NumaUsage {
  int32_t numaNodeId = 0;
  ResourceMap nodeUsage;
  ResourceMap systemUsage;
  bool operator==(const NumaUsage&) const = default;
};
bool read(const In& in, NumaUsage& out);
json::Value toJson(const NumaUsage& value);

struct NodeUsageReport {
  ResourceMap nodeUsage;
  std::vector<AggregatedUsage> aggregatedNodeUsages;
  ResourceMap systemUsage;
  std::vector<AggregatedUsage> aggregatedSystemUsages;
  std::vector<NumaUsage> numaUsages;
  bool operator==(const NodeUsageReport&) const = default;
};
bool read(const In& in, NodeUsageReport& out);
json::Value toJson(const NodeUsageReport& value);

struct PodMetric {
  Text name;
  Interned ns;
  ResourceMap podUsage;
  Interned priority;  // koord-prod …
  Interned qos;
  std::optional<Extensions> extensions;
  bool operator==(const PodMetric&) const = default;
};
bool read(const In& in, PodMetric& out);
json::Value toJson(const PodMetric& value);

struct HostApplicationMetric {
  std::string name;
  ResourceMap usage;
  Interned priority;
  Interned qos;
  bool operator==(const HostApplicationMetric&) const = default;
};
bool read(const In& in, HostApplicationMetric& out);
json::Value toJson(const HostApplicationMetric& value);

struct PredictedMetric {
  ResourceMap resource;
  bool operator==(const PredictedMetric&) const = default;
};
bool read(const In& in, PredictedMetric& out);
json::Value toJson(const PredictedMetric& value);

struct MetricCollectPolicy {
  struct Aggregate {
    std::vector<Duration> durations;
    bool operator==(const Aggregate&) const = default;
  };
  std::optional<int64_t> aggregateDurationSeconds;
  std::optional<int64_t> reportIntervalSeconds;
  std::optional<Aggregate> nodeAggregatePolicy;
  std::optional<std::string> nodeMemoryCollectPolicy;  // usageWithoutPageCache, …
  bool operator==(const MetricCollectPolicy&) const = default;
};
bool read(const In& in, MetricCollectPolicy::Aggregate& out);
json::Value toJson(const MetricCollectPolicy::Aggregate& value);
bool read(const In& in, MetricCollectPolicy& out);
json::Value toJson(const MetricCollectPolicy& value);

struct NodeMetricSpec {
  std::optional<MetricCollectPolicy> collectPolicy;
  bool operator==(const NodeMetricSpec&) const = default;
};
bool read(const In& in, NodeMetricSpec& out);
json::Value toJson(const NodeMetricSpec& value);

struct NodeMetricStatus {
  WallTime updateTime = kZeroTime;  // kZeroTime: never reported
  std::optional<NodeUsageReport> nodeMetric;
  std::vector<PodMetric> podsMetric;
  std::vector<HostApplicationMetric> hostApplicationMetric;
  std::optional<PredictedMetric> prodReclaimableMetric;
  std::optional<PredictedMetric> prodPeakMetric;
  bool operator==(const NodeMetricStatus&) const = default;
};
bool read(const In& in, NodeMetricStatus& out);
json::Value toJson(const NodeMetricStatus& value);

struct NodeMetric {
  ObjectMeta meta;
  NodeMetricSpec spec;
  NodeMetricStatus status;
};
bool read(const In& in, NodeMetric& out);

// The entry of that duration; nullptr when there is none.
const AggregatedUsage* usageOver(const std::vector<AggregatedUsage>& usages, Duration duration);

}  // namespace mangrove::api
