#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "api/annotations/report_validity.h"
#include "api/annotations/scheduling.h"
#include "base/number/elapsed.h"
#include "placement/framework/scale.h"
#include "placement/plugins/loadaware/load.h"
#include "placement/plugins/noderesources/scoring.h"

namespace mangrove::placement {

namespace {

void addTo(LoadVector& sum, const LoadVector& more) {
  for (size_t i = 0; i < more.size(); i++) sum[i] += more[i];
}

bool isZero(const LoadVector& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 0; });
}

// What the estimate says beyond what was measured.
void addExcess(LoadVector& sum, const LoadVector& estimate, const LoadVector* used) {
  for (size_t i = 0; i < estimate.size(); i++)
    sum[i] += std::max<int64_t>(0, estimate[i] - (used ? (*used)[i] : 0));
}

LoadVector fromNumbers(const LoadArgs& args, const std::map<std::string, int64_t>& values) {
  LoadVector out(args.resources.size());
  for (const auto& [name, value] : values)
    if (const size_t at = args.indexOf(name); at < out.size()) out[at] = value;
  return out;
}

// nullptr: that kind was not reported for that duration (zero: for any).
const LoadVector* aggregatedUsage(const LoadReport& report, api::Aggregation type,
                                  Duration duration) {
  const LoadReport::Aggregated* best = nullptr;
  for (const auto& entry : report.aggregated) {
    if (!entry.usage[static_cast<size_t>(type)]) continue;
    if (duration != Duration::zero() && entry.duration != duration) continue;
    if (!best || entry.duration > best->duration) best = &entry;
  }
  return best ? &*best->usage[static_cast<size_t>(type)] : nullptr;
}

LoadVector existingLoad(const LoadArgs& args, const LoadQuestion& q, bool prod,
                        std::optional<api::Aggregation> type, Duration duration) {
  if (prod) {
    LoadVector out = q.sums.prodUsage;
    addTo(out, q.sums.prodDelta);
    return out;
  }
  if (!q.report.hasUsage) return q.sums.nodeEstimated;
  LoadVector out = q.report.nodeUsage;
  if (type) {
    const LoadVector* usage = aggregatedUsage(q.report, *type, duration);
    if (!usage && args.aggregatedFallback)
      usage = aggregatedUsage(q.report, *type, Duration::zero());
    else if (!usage && duration != Duration::zero())
      return q.sums.nodeEstimated;
    if (usage) out = *usage;
  }
  addTo(out, q.sums.nodeDelta);
  return out;
}

// Go's math.Round of a share in percent.
int64_t percentOf(int64_t used, int64_t have) {
  return std::llround(static_cast<double>(used) / static_cast<double>(have) * 100);
}

}  // namespace

LoadReport reportOf(const LoadArgs& args, const api::NodeMetric& metric) {
  LoadReport out;
  out.exists = true;
  out.updatedAt = metric.status.updateTime;
  if (const auto& policy = metric.spec.collectPolicy; policy && policy->reportIntervalSeconds)
    out.interval = std::chrono::seconds(*policy->reportIntervalSeconds);
  out.validity = api::reportValidity(metric.meta.annotations);
  out.nodeUsage.resize(args.resources.size());
  out.systemUsage.resize(args.resources.size());
  for (const auto& pod : metric.status.podsMetric) {
    if (pod.podUsage.resources.empty()) continue;
    out.pods[pod.ns.str() + "/" + pod.name.str()] = {amountsOf(args, pod.podUsage.resources),
                                                     pod.priority == "koord-prod"};
  }
  if (!metric.status.nodeMetric) return out;
  out.hasUsage = true;
  out.nodeUsage = amountsOf(args, metric.status.nodeMetric->nodeUsage.resources);
  out.systemUsage = amountsOf(args, metric.status.nodeMetric->systemUsage.resources);
  for (const auto& entry : metric.status.nodeMetric->aggregatedNodeUsages) {
    LoadReport::Aggregated one;
    one.duration = entry.duration;
    for (size_t i = 0; i < api::kAggregations; i++)
      if (entry.usage[i] && !entry.usage[i]->resources.empty())
        one.usage[i] = amountsOf(args, entry.usage[i]->resources);
    out.aggregated.push_back(std::move(one));
  }
  return out;
}

bool isExpired(const LoadArgs& args, const LoadReport& report, WallTime now) {
  return report.updatedAt == kZeroTime ||
         elapsed(report.updatedAt, now) >= std::max(args.expiration, report.validity);
}

bool isStale(const LoadArgs& args, const LoadReport& report, WallTime now) {
  return args.longestAge > Duration::zero() &&
         (report.updatedAt == kZeroTime || elapsed(report.updatedAt, now) >= args.longestAge);
}

namespace {

const LoadReport::PodUsage* usageOf(const LoadReport& report, const AssignedPod& pod) {
  const auto at = report.pods.find(pod.key);
  return at == report.pods.end() ? nullptr : &at->second;
}

bool needsEstimate(const LoadReport& report, const AssignedPod& pod,
                   const LoadReport::PodUsage* used) {
  if (!used) return true;
  const WallTime fresh =
      report.updatedAt - std::chrono::duration_cast<std::chrono::microseconds>(report.interval);
  return pod.scheduledAt > fresh || (pod.deadline && *pod.deadline > report.updatedAt);
}

}  // namespace

bool needsEstimate(const LoadReport& report, const AssignedPod& pod) {
  return needsEstimate(report, pod, usageOf(report, pod));
}

void addTo(LoadSums& sums, const LoadReport& report, const AssignedPod& pod) {
  addTo(sums.nodeEstimated, pod.estimate);
  const LoadReport::PodUsage* used = usageOf(report, pod);
  if (pod.isProd && used && used->isProd) addTo(sums.prodUsage, used->usage);
  if (isZero(pod.estimate)) return;
  const bool needs = needsEstimate(report, pod, used);
  if (needs) addExcess(sums.nodeDelta, pod.estimate, used ? &used->usage : nullptr);
  if (!pod.isProd) return;
  if (used && !used->isProd)
    addTo(sums.prodDelta, pod.estimate);
  else if (needs)
    addExcess(sums.prodDelta, pod.estimate, used ? &used->usage : nullptr);
}

LoadSums sumUp(const LoadArgs& args, const LoadReport& report,
               const std::vector<AssignedPod>& pods) {
  const LoadVector zero(args.resources.size());
  LoadSums out{zero, zero, args.prodUsageIncludeSys && report.exists ? report.systemUsage : zero,
               zero};
  for (const AssignedPod& pod : pods) addTo(out, report, pod);
  return out;
}

NodeThresholds thresholdsFor(const LoadArgs& args, const api::Annotations& node) {
  NodeThresholds out{args.usageThresholds, args.prodUsageThresholds, args.aggregated};
  const auto own = api::parseUsageThresholds(node);
  if (!own || !*own) return out;
  if (!(*own)->usageThresholds.empty()) out.usage = fromNumbers(args, (*own)->usageThresholds);
  if (!(*own)->prodUsageThresholds.empty())
    out.prod = fromNumbers(args, (*own)->prodUsageThresholds);
  const auto& aggregated = (*own)->aggregatedUsage;
  if (!aggregated || aggregated->usageThresholds.empty()) return out;
  const auto type = api::aggregationOf(aggregated->usageAggregationType);
  if (!type) return out;
  out.aggregated.usageThresholds = fromNumbers(args, aggregated->usageThresholds);
  out.aggregated.usageType = type;
  out.aggregated.usageDuration = aggregated->usageAggregatedDuration.value_or(Duration::zero());
  return out;
}

std::string LoadVerdict::reason(const LoadArgs& args) const {
  switch (kind) {
    case Kind::kPass:
      return "";
    case Kind::kExpired:
      return "node(s) nodeMetric expired";
    case Kind::kUsage:
      return fmt::format("node(s) {} usage exceed threshold", args.resources[resource].view());
    case Kind::kAggregated:
      return fmt::format("node(s) {} aggregated usage exceed threshold",
                         args.resources[resource].view());
  }
  return "";
}

namespace {

enum class Limit { kProd, kAggregated, kPlain };

LoadVerdict checkLimit(const LoadArgs& args, const LoadQuestion& q, Limit kind) {
  const AggregatedArgs& aggregate = q.thresholds.aggregated;
  const bool aggregated = kind == Limit::kAggregated;
  const LoadVector& limits = kind == Limit::kProd ? q.thresholds.prod
                             : aggregated         ? aggregate.usageThresholds
                                                  : q.thresholds.usage;
  if (isZero(limits) || !q.report.exists) return {};
  if (q.stale) return {LoadVerdict::Kind::kExpired, 0};
  if (q.expired && args.filterExpired) {
    if (args.scheduleWhenExpired) return {};
    return {LoadVerdict::Kind::kExpired, 0};
  }
  if (!q.report.hasUsage) return {};
  LoadVector load =
      existingLoad(args, q, kind == Limit::kProd, aggregated ? aggregate.usageType : std::nullopt,
                   aggregate.usageDuration);
  addTo(load, q.pod);
  for (size_t i = 0; i < limits.size(); i++) {
    if (limits[i] == 0 || q.allocatable[i] == 0) continue;
    if (percentOf(load[i], q.allocatable[i]) > limits[i])
      return {aggregated ? LoadVerdict::Kind::kAggregated : LoadVerdict::Kind::kUsage, i};
  }
  return {};
}

}  // namespace

LoadVerdict filterLoad(const LoadArgs& args, const LoadQuestion& q) {
  if (q.podIsDaemon) return {};
  const AggregatedArgs& aggregate = q.thresholds.aggregated;
  const bool prod = q.podIsProd && !isZero(q.thresholds.prod);
  const bool aggregated = aggregate.usageType && !aggregate.usageThresholds.empty();
  if (!args.checkEveryThreshold)
    return checkLimit(args, q,
                      prod         ? Limit::kProd
                      : aggregated ? Limit::kAggregated
                                   : Limit::kPlain);
  LoadVerdict verdict;
  if (prod) verdict = checkLimit(args, q, Limit::kProd);
  if (verdict.kind == LoadVerdict::Kind::kPass && aggregated)
    verdict = checkLimit(args, q, Limit::kAggregated);
  return verdict.kind == LoadVerdict::Kind::kPass ? checkLimit(args, q, Limit::kPlain) : verdict;
}

int64_t scoreLoad(const LoadArgs& args, const LoadQuestion& q) {
  if (args.weights.empty() && args.dominantWeight == 0) return 0;
  if (!q.report.exists || q.expired || !q.report.hasUsage) return 0;
  const bool prod = args.scoreByProdUsage && q.podIsProd;
  LoadVector load = existingLoad(args, q, prod, prod ? std::nullopt : args.aggregated.scoreType,
                                 args.aggregated.scoreDuration);
  addTo(load, q.pod);
  int64_t sum = 0, weights = args.dominantWeight, dominant = kMaxScore;
  for (size_t i = 0; i < load.size(); i++) {
    const int64_t score = leastAllocated(load[i], q.allocatable[i]);
    const int64_t weight = args.weights.empty() ? 0 : args.weights[i];
    sum += score * weight;
    weights += weight;
    // Resources that nobody weighs, or that the node does not have, say nothing about its load.
    const bool counts =
        args.dominantOverAll || ((weight != 0 || args.weights.empty()) && q.allocatable[i] != 0);
    if (counts) dominant = std::min(dominant, score);
  }
  if (weights == 0) return 0;
  return (sum + dominant * args.dominantWeight) / weights;
}

}  // namespace mangrove::placement
