#include "api/annotations/scheduling.h"

#include "api/wire/schema.h"

namespace mangrove::api {
namespace {

std::optional<int64_t> secondsOf(const Annotations& pod, std::string_view key) {
  const auto text = pod.get(key);
  if (!text) return std::nullopt;
  const auto seconds = parseGoInt(*text);
  return seconds ? std::optional(*seconds) : std::nullopt;
}

}  // namespace

static constexpr Schema kAggregated{
    unlessUnset<&AggregatedThresholds::usageThresholds>("usageThresholds"),
    unlessUnset<&AggregatedThresholds::usageAggregationType>("usageAggregationType"),
    unlessUnset<&AggregatedThresholds::usageAggregatedDuration>("usageAggregatedDuration"),
};
bool read(const In& in, AggregatedThresholds& out) {
  return kAggregated.read(in, out);
}
json::Value toJson(const AggregatedThresholds& value) {
  return kAggregated.write(value);
}

static constexpr Schema kThresholds{
    unlessUnset<&UsageThresholds::usageThresholds>("usageThresholds"),
    unlessUnset<&UsageThresholds::prodUsageThresholds>("prodUsageThresholds"),
    unlessUnset<&UsageThresholds::aggregatedUsage>("aggregatedUsage"),
};
bool read(const In& in, UsageThresholds& out) {
  return kThresholds.read(in, out);
}
json::Value toJson(const UsageThresholds& value) {
  return kThresholds.write(value);
}
Result<std::optional<UsageThresholds>> parseUsageThresholds(const Annotations& node) {
  return parseAnnotation<UsageThresholds>(node, annotation::kUsageThresholds);
}

std::optional<ScalingFactors> loadEstimatedScalingFactorsOf(const Annotations& pod) {
  auto factors = parseAnnotation<ScalingFactors>(pod, annotation::kLoadEstimatedScalingFactors);
  return factors ? *std::move(factors) : std::nullopt;
}

std::optional<int64_t> loadEstimatedSecondsAfterScheduledOf(const Annotations& pod) {
  return secondsOf(pod, annotation::kLoadEstimatedSecondsAfterScheduled);
}

std::optional<int64_t> loadEstimatedSecondsAfterInitializedOf(const Annotations& pod) {
  return secondsOf(pod, annotation::kLoadEstimatedSecondsAfterInitialized);
}

static constexpr Schema kHint{
    unlessUnset<&SchedulingHint::nodeNames>("nodeNames"),
    unlessUnset<&SchedulingHint::preferredNodeNames>("preferredNodeNames"),
    unlessUnset<&SchedulingHint::extensions>("extensions"),
};
bool read(const In& in, SchedulingHint& out) {
  return kHint.read(in, out);
}
json::Value toJson(const SchedulingHint& value) {
  return kHint.write(value);
}
Result<std::optional<SchedulingHint>> parseSchedulingHint(const Annotations& pod) {
  const bool isInternal = !pod.get(annotation::kSchedulingHint).value_or("").empty();
  const auto key = isInternal ? annotation::kSchedulingHint : annotation::kOldSchedulingHint;
  return parseAnnotation<SchedulingHint>(pod, key, WhenEmpty::kAbsent);
}

std::string_view schedulerNameOf(const Labels& pod, std::string_view specSchedulerName) {
  return pod.get(label::kSchedulerName).value_or(specSchedulerName);
}

std::optional<LabelledPreemption> preemptionPolicyOf(const Labels& pod) {
  const auto word = pod.get(label::kPreemptionPolicy);
  if (word == "Never") return LabelledPreemption::kNever;
  if (word == "PreemptLowerPriority") return LabelledPreemption::kPreemptLowerPriority;
  return std::nullopt;
}

bool isPreemptible(const Labels& pod) {
  return !isTrueLabel(pod, label::kDisablePreemptible);
}

}  // namespace mangrove::api
