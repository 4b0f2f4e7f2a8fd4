#include "agent/report/policy.h"

#include <algorithm>

namespace mangrove::agent {
namespace {

using std::chrono::seconds;

constexpr Duration kShortestInterval = seconds(30), kShortestWindow = seconds(60);
constexpr int64_t kLongestSeconds = 7 * 24 * 3600;

Duration within(int64_t value, Duration shortest) {
  return std::max<Duration>(seconds(std::clamp<int64_t>(value, 0, kLongestSeconds)), shortest);
}

}  // namespace

ReportPolicy policyOf(const api::NodeMetricSpec& spec) {
  ReportPolicy policy;
  if (!spec.collectPolicy) return policy;
  const api::MetricCollectPolicy& said = *spec.collectPolicy;
  if (said.reportIntervalSeconds)
    policy.interval = within(*said.reportIntervalSeconds, kShortestInterval);
  if (said.aggregateDurationSeconds)
    policy.window = within(*said.aggregateDurationSeconds, kShortestWindow);
  if (said.nodeAggregatePolicy && !said.nodeAggregatePolicy->durations.empty())
    policy.durations = said.nodeAggregatePolicy->durations;
  if (said.nodeMemoryCollectPolicy == "usageWithHotPageCache")
    policy.memory = MemoryPolicy::kWithHotCache;
  if (said.nodeMemoryCollectPolicy == "usageWithPageCache")
    policy.memory = MemoryPolicy::kWithCache;
  return policy;
}

}  // namespace mangrove::agent
