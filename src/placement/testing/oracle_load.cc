#include "placement/testing/oracle_load.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "api/annotations/node.h"
#include "api/annotations/scheduling.h"
#include "api/pod/classes.h"
#include "api/pod/pod_requests.h"

namespace mangrove::placement::oracle {

namespace {

using Place = World::Place;

std::vector<std::string> resourcesOf(const LoadRules& rules) {
  std::map<std::string, bool> names = {{"cpu", true}, {"memory", true}};
  for (const Amounts* map :
       {&rules.weights, &rules.usage, &rules.prod, &rules.aggregated, &rules.factors})
    for (const auto& [name, value] : *map) names[name] = true;
  std::vector<std::string> out;
  for (const auto& [name, yes] : names) out.push_back(name);
  return out;
}

int64_t valueOf(const Amounts& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

bool isProd(const api::Pod& pod) {
  return api::bandWithDefault(pod) == api::PriorityBand::kProd;
}

bool allZero(const Amounts& amounts) {
  return std::all_of(amounts.begin(), amounts.end(), [](const auto& e) { return e.second == 0; });
}

const api::PodMetric* reported(const Place& place, const api::Pod& pod) {
  for (const auto& entry : place.metric->status.podsMetric)
    if (entry.ns == pod.meta.ns && entry.name == pod.meta.name && !entry.podUsage.resources.empty())
      return &entry;
  return nullptr;
}

WallTime scheduledAt(const api::Pod& pod) {
  for (const auto& condition : pod.status.conditions)
    if (condition.type == "PodScheduled" && condition.status == api::Truth::kTrue)
      return condition.lastTransitionTime;
  return kZeroTime;
}

// Whether measurements have not caught up with the pod yet.
bool needsEstimate(const LoadRules& rules, const Place& place, const api::Pod& pod) {
  if (!reported(place, pod)) return true;
  int64_t interval = 60;
  if (const auto& policy = place.metric->spec.collectPolicy; policy)
    interval = policy->reportIntervalSeconds.value_or(60);
  const WallTime updated = place.metric->status.updateTime;
  if (scheduledAt(pod) > updated - std::chrono::seconds(interval)) return true;
  const int64_t after = rules.secondsAfterScheduled.value_or(0);
  return after > 0 && scheduledAt(pod) + std::chrono::seconds(after) > updated;
}

int64_t nodeDelta(const LoadRules& rules, const Place& place, const std::string& resource) {
  int64_t sum = 0;
  for (const api::Pod* pod : place.pods) {
    if (!needsEstimate(rules, place, *pod)) continue;
    const auto* entry = reported(place, *pod);
    const int64_t used = entry ? amount(entry->podUsage.resources, resource) : 0;
    sum += std::max<int64_t>(0, valueOf(estimateOf(rules, *pod), resource) - used);
  }
  return sum;
}

int64_t prodLoad(const LoadRules& rules, const Place& place, const std::string& resource) {
  int64_t sum = 0;
  if (rules.prodIncludesSystem && place.metric->status.nodeMetric)
    sum = amount(place.metric->status.nodeMetric->systemUsage.resources, resource);
  for (const api::Pod* pod : place.pods) {
    if (!isProd(*pod)) continue;
    const auto* entry = reported(place, *pod);
    const int64_t used = entry ? amount(entry->podUsage.resources, resource) : 0;
    const int64_t estimated = valueOf(estimateOf(rules, *pod), resource);
    if (entry && entry->priority == "koord-prod") sum += used;
    if (allZero(estimateOf(rules, *pod))) continue;
    if (entry && entry->priority != "koord-prod")
      sum += estimated;
    else if (needsEstimate(rules, place, *pod))
      sum += std::max<int64_t>(0, estimated - used);
  }
  return sum;
}

int64_t allEstimates(const LoadRules& rules, const Place& place, const std::string& resource) {
  int64_t sum = 0;
  for (const api::Pod* pod : place.pods) sum += valueOf(estimateOf(rules, *pod), resource);
  return sum;
}

int64_t aggregatedLoad(const LoadRules& rules, const Place& place, const std::string& resource,
                       const std::string& type, int64_t seconds) {
  const auto& report = *place.metric->status.nodeMetric;
  const api::ResourceList* found = nullptr;
  Duration longest{};
  for (const auto& entry : report.aggregatedNodeUsages) {
    const auto* usage = entry.at(*api::aggregationOf(type));
    if (!usage || usage->resources.empty()) continue;
    if (seconds != 0 && entry.duration != std::chrono::seconds(seconds)) continue;
    if (found && entry.duration <= longest) continue;
    found = &usage->resources;
    longest = entry.duration;
  }
  if (!found && seconds != 0) return allEstimates(rules, place, resource);
  return amount(found ? *found : report.nodeUsage.resources, resource) +
         nodeDelta(rules, place, resource);
}

int64_t plainLoad(const LoadRules& rules, const Place& place, const std::string& resource) {
  return amount(place.metric->status.nodeMetric->nodeUsage.resources, resource) +
         nodeDelta(rules, place, resource);
}

int64_t capacity(const Place& place, const std::string& resource) {
  const auto raw = api::parseRawAllocatable(place.node->meta.annotations);
  if (raw && *raw && (*raw)->has(resource)) return amount(**raw, resource);
  return amount(place.node->status.allocatable, resource);
}

bool expired(const LoadRules& rules, const World& world, const Place& place) {
  const WallTime updated = place.metric->status.updateTime;
  return updated == kZeroTime ||
         world.now - updated >= std::chrono::seconds(rules.expirationSeconds);
}

bool isDaemon(const api::Pod& pod) {
  return std::any_of(pod.meta.owners->begin(), pod.meta.owners->end(),
                     [](const auto& owner) { return owner.kind == "DaemonSet"; });
}

std::string object(const Amounts& amounts) {
  std::string out;
  for (const auto& [name, value] : amounts)
    out += fmt::format(R"({}"{}":{})", out.empty() ? "" : ",", name, value);
  return "{" + out + "}";
}

}  // namespace

std::string LoadRules::json() const {
  std::string out = fmt::format(
      R"({{"filterExpiredNodeMetrics":{},"enableScheduleWhenNodeMetricsExpired":{},
          "nodeMetricExpirationSeconds":{},"dominantResourceWeight":{},"prodUsageIncludeSys":{},
          "scoreAccordingProdUsage":{},"usageThresholds":{},"prodUsageThresholds":{},
          "estimatedScalingFactors":{},"resourceWeights":{})",
      filterExpired, scheduleWhenExpired, expirationSeconds, dominantWeight, prodIncludesSystem,
      scoreByProd, object(usage), object(prod), object(factors), object(weights));
  if (secondsAfterScheduled)
    out += fmt::format(R"(,"estimatedSecondsAfterPodScheduled":{})", *secondsAfterScheduled);
  if (!usageType.empty() || !scoreType.empty())
    out += fmt::format(
        R"(,"aggregated":{{"usageThresholds":{},"usageAggregationType":"{}",
            "usageAggregatedDuration":"{}s","scoreAggregationType":"{}",
            "scoreAggregatedDuration":"{}s"}})",
        object(aggregated), usageType, usageSeconds, scoreType, scoreSeconds);
  return out + "}";
}

Amounts estimateOf(const LoadRules& rules, const api::Pod& pod) {
  Amounts out;
  const auto band = api::bandWithDefault(pod);
  for (const auto& [resource, factor] : rules.factors) {
    const std::string name(api::translated(resource, band));
    const bool exists = !name.empty();
    const int64_t asked = exists ? amount(api::podRequests(*pod.spec), name) : 0;
    const int64_t limit = exists ? amount(api::podLimits(*pod.spec), name) : 0;
    const int64_t most = std::max(asked, limit);
    if (most == 0) {
      if (name == "cpu" || name == "kubernetes.io/batch-cpu") out[resource] = 250;
      if (name == "memory" || name == "kubernetes.io/batch-memory") out[resource] = 200 << 20;
      continue;
    }
    int64_t e = std::llround(static_cast<double>(most) * static_cast<double>(factor) / 100);
    if (limit > 0) e = std::min(e, limit);
    out[resource] = e;
  }
  return out;
}

std::string loadRefusal(const LoadRules& rules, const World& world, const api::Pod& pod,
                        const Place& place) {
  if (isDaemon(pod)) return "";
  Amounts usage = rules.usage, prod = rules.prod, aggregated = rules.aggregated;
  std::string type = rules.usageType;
  int64_t seconds = rules.usageSeconds;
  if (const auto own = api::parseUsageThresholds(place.node->meta.annotations); own && *own) {
    if (!(*own)->usageThresholds.empty()) usage = (*own)->usageThresholds;
    if (!(*own)->prodUsageThresholds.empty()) prod = (*own)->prodUsageThresholds;
    if (const auto& a = (*own)->aggregatedUsage;
        a && !a->usageThresholds.empty() && !a->usageAggregationType.empty()) {
      aggregated = a->usageThresholds;
      type = a->usageAggregationType;
      seconds = std::chrono::duration_cast<std::chrono::seconds>(
                    a->usageAggregatedDuration.value_or(Duration::zero()))
                    .count();
    }
  }
  const bool byProd = isProd(pod) && !allZero(prod);
  const bool byAggregate = !byProd && !aggregated.empty() && !type.empty();
  const Amounts& limits = byProd ? prod : byAggregate ? aggregated : usage;
  if (allZero(limits) || !place.metric) return "";
  if (rules.filterExpired && expired(rules, world, place))
    return rules.scheduleWhenExpired ? "" : "node(s) nodeMetric expired";
  if (!place.metric->status.nodeMetric) return "";
  for (const std::string& r : resourcesOf(rules)) {
    const int64_t have = capacity(place, r), limit = valueOf(limits, r);
    if (limit == 0 || have == 0) continue;
    const int64_t load = (byProd        ? prodLoad(rules, place, r)
                          : byAggregate ? aggregatedLoad(rules, place, r, type, seconds)
                                        : plainLoad(rules, place, r)) +
                         valueOf(estimateOf(rules, pod), r);
    const double percent = static_cast<double>(load) / static_cast<double>(have) * 100;
    if (std::llround(percent) > limit)
      return fmt::format("node(s) {}{} usage exceed threshold", r,
                         byAggregate ? " aggregated" : "");
  }
  return "";
}

int64_t loadScore(const LoadRules& rules, const World& world, const api::Pod& pod,
                  const Place& place) {
  if (!place.metric || expired(rules, world, place) || !place.metric->status.nodeMetric) return 0;
  const bool byProd = rules.scoreByProd && isProd(pod);
  int64_t sum = 0, weights = rules.dominantWeight, worst = 100;
  for (const std::string& r : resourcesOf(rules)) {
    const int64_t have = capacity(place, r);
    const int64_t load = (byProd ? prodLoad(rules, place, r)
                          : !rules.scoreType.empty()
                              ? aggregatedLoad(rules, place, r, rules.scoreType, rules.scoreSeconds)
                              : plainLoad(rules, place, r)) +
                         valueOf(estimateOf(rules, pod), r);
    const int64_t score = have == 0 || load > have ? 0 : (have - load) * 100 / have;
    sum += valueOf(rules.weights, r) * score;
    weights += valueOf(rules.weights, r);
    if ((rules.weights.empty() || valueOf(rules.weights, r) > 0) && have > 0)
      worst = std::min(worst, score);
  }
  return weights == 0 ? 0 : (sum + worst * rules.dominantWeight) / weights;
}

}  // namespace mangrove::placement::oracle
