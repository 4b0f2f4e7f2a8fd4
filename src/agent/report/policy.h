#pragma once
// How often and over which windows usage is reported: the NodeMetric's spec over defaults, kept
// within sane limits.
//
//   ReportPolicy policy = policyOf(metric.spec);
//
// Pure, any thread.

#include <vector>

#include "api/koordinator/node_metric.h"
#include "base/number/units.h"
#include "stats/percentile.h"

namespace mangrove::agent {

enum class MemoryPolicy : uint8_t { kWithoutCache, kWithHotCache, kWithCache };

struct ReportPolicy {
  Duration interval = std::chrono::seconds(60);
  Duration window = std::chrono::seconds(300);
  std::vector<Duration> durations = {std::chrono::minutes(5), std::chrono::minutes(10),
                                     std::chrono::minutes(30)};
  MemoryPolicy memory = MemoryPolicy::kWithoutCache;
  stats::PercentileRule percentiles = stats::PercentileRule::kReference;
  bool operator==(const ReportPolicy&) const = default;
};

// Never more often than every 30 s, never over less than 60 s (the reference's limits). An unknown
// memory policy is the default one.
ReportPolicy policyOf(const api::NodeMetricSpec& spec);

}  // namespace mangrove::agent
