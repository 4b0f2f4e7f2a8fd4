#include "api/koordinator/node_metric.h"

#include "api/wire/schema.h"

namespace mangrove::api {
namespace {

constexpr std::array<std::string_view, kAggregations> kNames = {"avg", "p50", "p90", "p95", "p99"};

bool readUsage(const In& in, AggregatedUsage& out) {
  if (!in.view.isObject()) return in.wants("an object");
  for (auto [key, value] : in.view.members()) {
    const auto aggregation = aggregationOf(key);
    if (!aggregation) continue;
    ResourceMap usage;
    if (!value.isNull() && !read(in.member(key, value), usage)) return false;
    out.set(*aggregation, std::move(usage));
  }
  return true;
}

}  // namespace

std::string_view aggregationName(Aggregation aggregation) {
  return kNames[static_cast<size_t>(aggregation)];
}

std::optional<Aggregation> aggregationOf(std::string_view name) {
  for (size_t i = 0; i < kAggregations; ++i)
    if (kNames[i] == name) return static_cast<Aggregation>(i);
  return std::nullopt;
}

static constexpr Schema kResourceMap{
    unlessUnset<&ResourceMap::resources>("resources"),
    unlessUnset<&ResourceMap::devices>("devices"),
};
bool read(const In& in, ResourceMap& out) {
  return kResourceMap.read(in, out);
}
json::Value toJson(const ResourceMap& value) {
  return kResourceMap.write(value);
}

bool read(const In& in, AggregatedUsage& out) {
  static constexpr Fields fields{
      via<readUsage>("usage"),
      field<&AggregatedUsage::duration>("duration"),
  };
  return fields.read(in, out);
}
json::Value toJson(const AggregatedUsage& value) {
  json::Object usage;
  for (size_t i = 0; i < kAggregations; ++i) put(usage, kNames[i], value.usage[i]);
  json::Object out;
  if (!usage.empty()) out["usage"] = std::move(usage);
  putAlways(out, "duration", value.duration);
  return out;
}

static constexpr Schema kNuma{
    always<&NumaUsage::numaNodeId>("numaNodeID"),
    always<&NumaUsage::nodeUsage>("nodeUsage"),
    always<&NumaUsage::systemUsage>("systemUsage"),
};
bool read(const In& in, NumaUsage& out) {
  return kNuma.read(in, out);
}
json::Value toJson(const NumaUsage& value) {
  return kNuma.write(value);
}

static constexpr Schema kNode{
    always<&NodeUsageReport::nodeUsage>("nodeUsage"),
    unlessUnset<&NodeUsageReport::aggregatedNodeUsages>("aggregatedNodeUsages"),
    always<&NodeUsageReport::systemUsage>("systemUsage"),
    unlessUnset<&NodeUsageReport::aggregatedSystemUsages>("aggregatedSystemUsages"),
    unlessUnset<&NodeUsageReport::numaUsages>("numaUsages"),
};
bool read(const In& in, NodeUsageReport& out) {
  return kNode.read(in, out);
}
json::Value toJson(const NodeUsageReport& value) {
  return kNode.write(value);
}

static constexpr Schema kPod{
    unlessUnset<&PodMetric::name>("name"),    unlessUnset<&PodMetric::ns>("namespace"),
    always<&PodMetric::podUsage>("podUsage"), unlessUnset<&PodMetric::priority>("priority"),
    unlessUnset<&PodMetric::qos>("qos"),      unlessUnset<&PodMetric::extensions>("extensions"),
};
bool read(const In& in, PodMetric& out) {
  return kPod.read(in, out);
}
json::Value toJson(const PodMetric& value) {
  return kPod.write(value);
}

static constexpr Schema kHostApplication{
    unlessUnset<&HostApplicationMetric::name>("name"),
    always<&HostApplicationMetric::usage>("usage"),
    unlessUnset<&HostApplicationMetric::priority>("priority"),
    unlessUnset<&HostApplicationMetric::qos>("qos"),
};
bool read(const In& in, HostApplicationMetric& out) {
  return kHostApplication.read(in, out);
}
json::Value toJson(const HostApplicationMetric& value) {
  return kHostApplication.write(value);
}

static constexpr Schema kPredicted{always<&PredictedMetric::resource>("resource")};
bool read(const In& in, PredictedMetric& out) {
  return kPredicted.read(in, out);
}
json::Value toJson(const PredictedMetric& value) {
  return kPredicted.write(value);
}

using Aggregate = MetricCollectPolicy::Aggregate;
static constexpr Schema kAggregate{unlessUnset<&Aggregate::durations>("durations")};
bool read(const In& in, MetricCollectPolicy::Aggregate& out) {
  return kAggregate.read(in, out);
}
json::Value toJson(const MetricCollectPolicy::Aggregate& value) {
  return kAggregate.write(value);
}

static constexpr Schema kPolicy{
    unlessUnset<&MetricCollectPolicy::aggregateDurationSeconds>("aggregateDurationSeconds"),
    unlessUnset<&MetricCollectPolicy::reportIntervalSeconds>("reportIntervalSeconds"),
    unlessUnset<&MetricCollectPolicy::nodeAggregatePolicy>("nodeAggregatePolicy"),
    unlessUnset<&MetricCollectPolicy::nodeMemoryCollectPolicy>("nodeMemoryCollectPolicy"),
};
bool read(const In& in, MetricCollectPolicy& out) {
  return kPolicy.read(in, out);
}
json::Value toJson(const MetricCollectPolicy& value) {
  return kPolicy.write(value);
}

static constexpr Schema kSpec{unlessUnset<&NodeMetricSpec::collectPolicy>("metricCollectPolicy")};
bool read(const In& in, NodeMetricSpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const NodeMetricSpec& value) {
  return kSpec.write(value);
}

static constexpr Schema kStatus{
    unlessUnset<&NodeMetricStatus::updateTime>("updateTime"),
    unlessUnset<&NodeMetricStatus::nodeMetric>("nodeMetric"),
    unlessUnset<&NodeMetricStatus::podsMetric>("podsMetric"),
    unlessUnset<&NodeMetricStatus::hostApplicationMetric>("hostApplicationMetric"),
    unlessUnset<&NodeMetricStatus::prodReclaimableMetric>("prodReclaimableMetric"),
    unlessUnset<&NodeMetricStatus::prodPeakMetric>("prodPeakMetric"),
};
bool read(const In& in, NodeMetricStatus& out) {
  return kStatus.read(in, out);
}
json::Value toJson(const NodeMetricStatus& value) {
  return kStatus.write(value);
}

bool read(const In& in, NodeMetric& out) {
  static constexpr Fields fields{
      field<&NodeMetric::meta>("metadata"),
      field<&NodeMetric::spec>("spec"),
      field<&NodeMetric::status>("status"),
  };
  return fields.read(in, out);
}

const AggregatedUsage* usageOver(const std::vector<AggregatedUsage>& usages, Duration duration) {
  for (const AggregatedUsage& usage : usages)
    if (usage.duration == duration) return &usage;
  return nullptr;
}

}  // namespace mangrove::api
