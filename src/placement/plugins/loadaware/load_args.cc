#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "placement/framework/args.h"
#include "placement/plugins/loadaware/load.h"

namespace mangrove::placement {

namespace {

using Numbers = std::map<std::string, int64_t>;

void checkRange(Args& args, std::string_view what, const Numbers& values, int64_t least) {
  for (const auto& [name, value] : values)
    if (value < least || value > 100)
      args.complain(fmt::format("{}.{}: {} is not in {}..100", what, name, value, least));
}

std::optional<api::Aggregation> readAggregation(Args& args, std::string_view key) {
  const std::string word = args.text(key);
  if (word.empty()) return std::nullopt;
  const auto type = api::aggregationOf(word);
  if (!type) args.complain(fmt::format("{} '{}': want avg, p50, p90, p95 or p99", key, word));
  return type;
}

LoadVector spread(const LoadArgs& args, const Numbers& values) {
  if (values.empty()) return {};
  LoadVector out(args.resources.size());
  for (const auto& [name, value] : values)
    if (const size_t at = args.indexOf(name); at < out.size()) out[at] = value;
  return out;
}

struct Wishes {
  Numbers weights, usage, prod, factors, aggregated;
  std::vector<std::string> supported;
};

Wishes readWishes(Args& args, Args& aggregated) {
  Wishes out;
  out.weights = args.integers("resourceWeights");
  if (out.weights.empty() && args.integer("dominantResourceWeight", 0) == 0)
    out.weights = {{"cpu", 1}, {"memory", 1}};
  out.usage = args.integers("usageThresholds");
  if (out.usage.empty()) out.usage = {{"cpu", 65}, {"memory", 95}};
  out.prod = args.integers("prodUsageThresholds");
  out.factors = args.integers("estimatedScalingFactors");
  out.factors.try_emplace("cpu", 85);
  out.factors.try_emplace("memory", 70);
  out.aggregated = aggregated.integers("usageThresholds");
  out.supported = args.texts("supportedResources");
  checkRange(args, "resourceWeights", out.weights, 1);
  checkRange(args, "usageThresholds", out.usage, 0);
  checkRange(args, "aggregated.usageThresholds", out.aggregated, 0);
  checkRange(args, "estimatedScalingFactors", out.factors, 1);
  for (const auto& [name, weight] : out.weights)
    if (!out.factors.contains(name))
      args.complain(fmt::format("resourceWeights.{}: has no estimatedScalingFactors", name));
  return out;
}

std::vector<Interned> resourceVector(const Wishes& wishes) {
  std::set<std::string> names = {"cpu", "memory"};
  for (const Numbers* numbers :
       {&wishes.weights, &wishes.usage, &wishes.prod, &wishes.factors, &wishes.aggregated})
    for (const auto& [name, value] : *numbers) names.insert(name);
  names.insert(wishes.supported.begin(), wishes.supported.end());
  return {names.begin(), names.end()};
}

void readAggregated(Args& from, AggregatedArgs& out) {
  from.only({"usageThresholds", "usageAggregationType", "usageAggregatedDuration",
             "scoreAggregationType", "scoreAggregatedDuration"});
  out.usageType = readAggregation(from, "usageAggregationType");
  out.scoreType = readAggregation(from, "scoreAggregationType");
  out.usageDuration = from.duration("usageAggregatedDuration").value_or(Duration::zero());
  out.scoreDuration = from.duration("scoreAggregatedDuration").value_or(Duration::zero());
}

std::optional<int64_t> optionalInteger(Args& args, std::string_view key) {
  return args.has(key) ? std::optional(args.integer(key, 0)) : std::nullopt;
}

}  // namespace

size_t LoadArgs::indexOf(std::string_view resource) const {
  const auto at = std::lower_bound(resources.begin(), resources.end(), resource,
                                   [](Interned a, std::string_view b) { return a.view() < b; });
  const bool found = at != resources.end() && at->view() == resource;
  return found ? static_cast<size_t>(at - resources.begin()) : resources.size();
}

Result<LoadArgs> readLoadArgs(const json::Value& value) {
  Args args(value, "LoadAwareSchedulingArgs");
  args.only({"filterExpiredNodeMetrics",
             "nodeMetricExpirationSeconds",
             "enableScheduleWhenNodeMetricsExpired",
             "resourceWeights",
             "dominantResourceWeight",
             "usageThresholds",
             "prodUsageThresholds",
             "prodUsageIncludeSys",
             "scoreAccordingProdUsage",
             "estimator",
             "estimatedScalingFactors",
             "estimatedSecondsAfterPodScheduled",
             "estimatedSecondsAfterInitialized",
             "allowCustomizeEstimation",
             "aggregated",
             "supportedResources",
             "dominantOverAllResources",
             "estimateEveryBand",
             "aggregatedFallback",
             "checkEveryThreshold",
             "nodeMetricLongestAgeSeconds"});
  Args aggregated = args.object("aggregated");
  const Wishes wishes = readWishes(args, aggregated);
  LoadArgs out;
  out.resources = resourceVector(wishes);
  out.filterExpired = args.boolean("filterExpiredNodeMetrics", true);
  const int64_t seconds = args.integer("nodeMetricExpirationSeconds", 180);
  if (seconds <= 0)
    args.complain(fmt::format("nodeMetricExpirationSeconds: {} is not above 0", seconds));
  out.expiration = std::chrono::seconds(seconds);
  out.scheduleWhenExpired = args.boolean("enableScheduleWhenNodeMetricsExpired", false);
  out.weights = spread(out, wishes.weights);
  out.dominantWeight = args.integer("dominantResourceWeight", 0);
  if (out.dominantWeight < 0 || out.dominantWeight > 100)
    args.complain(fmt::format("dominantResourceWeight: {} is not in 0..100", out.dominantWeight));
  out.usageThresholds = spread(out, wishes.usage);
  out.prodUsageThresholds = spread(out, wishes.prod);
  out.prodUsageIncludeSys = args.boolean("prodUsageIncludeSys", false);
  out.scoreByProdUsage = args.boolean("scoreAccordingProdUsage", false);
  out.factors = spread(out, wishes.factors);
  out.secondsAfterScheduled = optionalInteger(args, "estimatedSecondsAfterPodScheduled");
  out.secondsAfterInitialized = optionalInteger(args, "estimatedSecondsAfterInitialized");
  out.allowCustomize = args.boolean("allowCustomizeEstimation", false);
  out.dominantOverAll = args.boolean("dominantOverAllResources", false);
  out.estimateEveryBand = args.boolean("estimateEveryBand", false);
  out.aggregatedFallback = args.boolean("aggregatedFallback", false);
  out.checkEveryThreshold = args.boolean("checkEveryThreshold", false);
  const int64_t age = args.integer("nodeMetricLongestAgeSeconds", 0);
  if (age < 0) args.complain(fmt::format("nodeMetricLongestAgeSeconds: {} is below 0", age));
  out.longestAge = std::chrono::seconds(std::max<int64_t>(0, age));
  readAggregated(aggregated, out.aggregated);
  out.aggregated.usageThresholds = spread(out, wishes.aggregated);
  args.take(aggregated);
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

}  // namespace mangrove::placement
