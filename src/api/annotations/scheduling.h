#pragma once
// Hints and thresholds for the scheduler's load and placement rules, and the labels that steer one
// pod.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/annotations/annotation.h"

namespace mangrove::api {

// On a node: thresholds in percent by resource that replace the plugin's. An empty value is an
// error.
struct AggregatedThresholds {
  std::map<std::string, int64_t> usageThresholds;
  std::string usageAggregationType;  // avg, p50 …
  std::optional<Duration> usageAggregatedDuration;
  bool operator==(const AggregatedThresholds&) const = default;
};
bool read(const In& in, AggregatedThresholds& out);
json::Value toJson(const AggregatedThresholds& value);
struct UsageThresholds {
  std::map<std::string, int64_t> usageThresholds;
  std::map<std::string, int64_t> prodUsageThresholds;
  std::optional<AggregatedThresholds> aggregatedUsage;
  bool operator==(const UsageThresholds&) const = default;
};
bool read(const In& in, UsageThresholds& out);
json::Value toJson(const UsageThresholds& value);
Result<std::optional<UsageThresholds>> parseUsageThresholds(const Annotations& node);

// On a pod: how its usage is estimated. What cannot be read counts as absent.
using ScalingFactors = std::map<std::string, int64_t>;  // percent by resource
std::optional<ScalingFactors> loadEstimatedScalingFactorsOf(const Annotations& pod);
std::optional<int64_t> loadEstimatedSecondsAfterScheduledOf(const Annotations& pod);
std::optional<int64_t> loadEstimatedSecondsAfterInitializedOf(const Annotations& pod);

struct SchedulingHint {
  std::vector<std::string> nodeNames;
  std::vector<std::string> preferredNodeNames;
  std::map<std::string, RawJson> extensions;
  bool operator==(const SchedulingHint&) const = default;
};
bool read(const In& in, SchedulingHint& out);
json::Value toJson(const SchedulingHint& value);
// The internal key; when that is absent or empty its deprecated twin.
Result<std::optional<SchedulingHint>> parseSchedulingHint(const Annotations& pod);

// Label scheduler-name, else what the spec says.
std::string_view schedulerNameOf(const Labels& pod, std::string_view specSchedulerName);

enum class LabelledPreemption { kNever, kPreemptLowerPriority };
std::optional<LabelledPreemption> preemptionPolicyOf(const Labels& pod);
// Label disable-preemptible=true: never a victim.
bool isPreemptible(const Labels& pod);

}  // namespace mangrove::api
