#pragma once
// LoadAwareScheduling without nodes, clocks and caches: what a pod will probably use, what a node
// uses now, and whether the two fit together. Amounts are vectors over LoadArgs::resources, cpu in
// milli-cores, everything else in whole units.
//
//   LoadVector e = estimate(args, *pod.spec, band, pod.meta.annotations);   // 4 cpu → 3400
//   LoadSums sums = sumUp(args, report, assigned);
//   LoadVerdict v = filterLoad(args, {…});
//
// Pure functions, any thread.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/koordinator/node_metric.h"
#include "api/object/node.h"
#include "api/pod/classes.h"
#include "api/pod/pod.h"
#include "json/value.h"

namespace mangrove::placement {

using LoadVector = std::vector<int64_t>;

struct AggregatedArgs {
  LoadVector usageThresholds;  // empty: none
  std::optional<api::Aggregation> usageType;
  Duration usageDuration{};  // zero: the longest reported
  std::optional<api::Aggregation> scoreType;
  Duration scoreDuration{};
};

struct LoadArgs {
  std::vector<Interned> resources;  // sorted by name
  bool filterExpired = true;
  Duration expiration = std::chrono::seconds(180);
  bool scheduleWhenExpired = false;
  LoadVector weights;  // empty: the weights are off
  int64_t dominantWeight = 0;
  LoadVector usageThresholds;      // percent, 0: not checked
  LoadVector prodUsageThresholds;  // empty: none
  bool prodUsageIncludeSys = false;
  bool scoreByProdUsage = false;
  LoadVector factors;  // percent, 0: no factor for this resource
  std::optional<int64_t> secondsAfterScheduled, secondsAfterInitialized;
  bool allowCustomize = false;
  // Ours, off by default because the reference answers otherwise:
  bool dominantOverAll = false;      // the dominant share counts resources of weight 0, too
  bool estimateEveryBand = false;    // free and mid pods that name nothing of their band count, too
  bool aggregatedFallback = false;   // a duration that is not reported: the longest, then the usage
  bool checkEveryThreshold = false;  // prod, aggregated and plain thresholds, not the first kind
  Duration longestAge{};             // of reports that still say something; zero: no end
  AggregatedArgs aggregated;

  size_t indexOf(std::string_view resource) const;  // resources.size() when it is not there
};
Result<LoadArgs> readLoadArgs(const json::Value& args);

LoadVector amountsOf(const LoadArgs& args, const api::ResourceList& list);
LoadVector estimate(const LoadArgs& args, const api::PodSpec& spec, api::PriorityBand band,
                    const api::Annotations& annotations);
// Allocatable before amplification.
LoadVector loadAllocatable(const LoadArgs& args, const api::Node& node);

// ---- what is on the node

struct AssignedPod {
  std::string key;  // ns/name
  LoadVector estimate;
  WallTime scheduledAt = kZeroTime;
  std::optional<WallTime> deadline;  // until then the estimate counts, whatever was measured
  bool isProd = false;
};
AssignedPod assignedPod(const LoadArgs& args, const api::Pod& pod, WallTime now);
// The same for a pod whose estimate and band are known already.
AssignedPod assignedPod(const LoadArgs& args, const api::Pod& pod, WallTime now,
                        LoadVector estimate, api::PriorityBand band);
// scheduledAt and deadline alone: all that changes while a pod stays where it is.
void setTimes(const LoadArgs& args, const api::Pod& pod, WallTime now, AssignedPod& out);

struct LoadReport {
  bool exists = false;    // there is a NodeMetric
  bool hasUsage = false;  // with status.nodeMetric
  WallTime updatedAt = kZeroTime;
  Duration interval = std::chrono::seconds(60);
  Duration validity{};  // as the object says how long it holds; zero: it does not
  LoadVector nodeUsage, systemUsage;
  struct Aggregated {
    Duration duration;
    std::array<std::optional<LoadVector>, api::kAggregations> usage;
  };
  std::vector<Aggregated> aggregated;
  struct PodUsage {
    LoadVector usage;
    bool isProd = false;
  };
  std::map<std::string, PodUsage, std::less<>> pods;
};
LoadReport reportOf(const LoadArgs& args, const api::NodeMetric& metric);
bool isExpired(const LoadArgs& args, const LoadReport& report, WallTime now);
// Older than anybody should rely on, whatever is done about expired reports.
bool isStale(const LoadArgs& args, const LoadReport& report, WallTime now);

struct LoadSums {
  LoadVector nodeDelta, nodeEstimated, prodUsage, prodDelta;
};
LoadSums sumUp(const LoadArgs& args, const LoadReport& report,
               const std::vector<AssignedPod>& pods);
void addTo(LoadSums& sums, const LoadReport& report, const AssignedPod& pod);
// Whether what the report says about the pod is too young, or nothing.
bool needsEstimate(const LoadReport& report, const AssignedPod& pod);

// ---- the answers

struct NodeThresholds {
  LoadVector usage, prod;
  AggregatedArgs aggregated;
};
// The args, with the parts that the node's annotation replaces.
NodeThresholds thresholdsFor(const LoadArgs& args, const api::Annotations& node);

struct LoadQuestion {
  const NodeThresholds& thresholds;
  const LoadReport& report;
  const LoadSums& sums;
  const LoadVector& allocatable;
  const LoadVector& pod;  // its estimate
  bool podIsProd = false;
  bool podIsDaemon = false;
  bool expired = false;
  bool stale = false;
};
struct LoadVerdict {
  enum class Kind : uint8_t { kPass, kExpired, kUsage, kAggregated } kind = Kind::kPass;
  size_t resource = 0;
  std::string reason(const LoadArgs& args) const;  // "" for kPass
};
LoadVerdict filterLoad(const LoadArgs& args, const LoadQuestion& question);
int64_t scoreLoad(const LoadArgs& args, const LoadQuestion& question);

}  // namespace mangrove::placement
