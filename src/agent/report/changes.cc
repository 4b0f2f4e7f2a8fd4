#include "agent/report/changes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string_view>

#include "api/koordinator/pod_stalls.h"
#include "api/koordinator/yarn_use.h"
#include "json/merge_patch.h"

namespace mangrove::agent {
namespace {

// Differences of one usage that are allowed: a share of the node, or a share of itself.
class Comparison {
 public:
  Comparison(const NodeSize& size, const Tolerance& tolerance)
      : size_(size), tolerance_(tolerance) {}

  bool ofNode(const api::ResourceMap& sent, const api::ResourceMap& now) const {
    return sameKeys(sent, now) &&
           within(sent.resources.cpu().v, now.resources.cpu().v,
                  share(size_.cpu.v, tolerance_.nodeShare, tolerance_.cpuFloor.v)) &&
           within(sent.resources.memory().v, now.resources.memory().v,
                  share(size_.memory.v, tolerance_.nodeShare, tolerance_.memoryFloor.v));
  }
  // What amounts for sale are computed from.
  bool ofSold(const api::ResourceMap& sent, const api::ResourceMap& now) const {
    return sameKeys(sent, now) && sold(amountsOf(sent), amountsOf(now));
  }
  bool sold(const NodeSize& sent, const NodeSize& now) const {
    return within(sent.cpu.v, now.cpu.v,
                  share(size_.cpu.v, tolerance_.soldShare, tolerance_.cpuFloor.v)) &&
           within(sent.memory.v, now.memory.v,
                  share(size_.memory.v, tolerance_.soldShare, tolerance_.memoryFloor.v));
  }
  // A pod: by a share of itself, and by so much of the node that it matters who it is.
  bool ofPod(const api::ResourceMap& sent, const api::ResourceMap& now) const {
    const NodeSize was = amountsOf(sent), is = amountsOf(now);
    const auto allowed = [&](int64_t own, int64_t node, int64_t floor) {
      return std::max(share(own, tolerance_.ownShare, floor),
                      share(node, tolerance_.podShare, floor));
    };
    return sameKeys(sent, now) &&
           within(was.cpu.v, is.cpu.v, allowed(was.cpu.v, size_.cpu.v, tolerance_.cpuFloor.v)) &&
           within(was.memory.v, is.memory.v,
                  allowed(was.memory.v, size_.memory.v, tolerance_.memoryFloor.v));
  }
  static NodeSize amountsOf(const api::ResourceMap& map) {
    return {map.resources.cpu(), map.resources.memory()};
  }

 private:
  static bool sameKeys(const api::ResourceMap& a, const api::ResourceMap& b) {
    return a.resources.empty() == b.resources.empty() && a.devices == b.devices;
  }
  static bool within(int64_t a, int64_t b, int64_t allowed) {
    int64_t difference = 0;
    return !__builtin_sub_overflow(a, b, &difference) && std::llabs(difference) <= allowed;
  }
  static int64_t share(int64_t of, double part, int64_t floor) {
    return std::max(floor, static_cast<int64_t>(static_cast<double>(of) * part));
  }

  const NodeSize& size_;
  const Tolerance& tolerance_;
};

bool sameAggregates(const std::vector<api::AggregatedUsage>& sent,
                    const std::vector<api::AggregatedUsage>& now, const Comparison& same) {
  return std::equal(sent.begin(), sent.end(), now.begin(), now.end(),
                    [&](const api::AggregatedUsage& a, const api::AggregatedUsage& b) {
                      if (a.duration != b.duration) return false;
                      for (size_t i = 0; i < api::kAggregations; ++i) {
                        if (a.usage[i].has_value() != b.usage[i].has_value()) return false;
                        if (a.usage[i] && !same.ofNode(*a.usage[i], *b.usage[i])) return false;
                      }
                      return true;
                    });
}

bool sameNode(const api::NodeUsageReport& a, const api::NodeUsageReport& b,
              const Comparison& same) {
  return same.ofNode(a.nodeUsage, b.nodeUsage) && same.ofSold(a.systemUsage, b.systemUsage) &&
         sameAggregates(a.aggregatedNodeUsages, b.aggregatedNodeUsages, same) &&
         sameAggregates(a.aggregatedSystemUsages, b.aggregatedSystemUsages, same) &&
         std::equal(a.numaUsages.begin(), a.numaUsages.end(), b.numaUsages.begin(),
                    b.numaUsages.end(), [&](const api::NumaUsage& x, const api::NumaUsage& y) {
                      return x.numaNodeId == y.numaNodeId &&
                             same.ofNode(x.nodeUsage, y.nodeUsage) &&
                             same.ofNode(x.systemUsage, y.systemUsage);
                    });
}

// What pods of one band use together: the manager and the scheduler never look further.
using Bands = std::map<std::string_view, NodeSize>;
Bands bandsOf(const std::vector<api::PodMetric>& pods) {
  Bands out;
  for (const api::PodMetric& pod : pods) {
    NodeSize& sum = out[pod.priority.view()];
    sum.cpu = sum.cpu + pod.podUsage.resources.cpu();
    sum.memory = sum.memory + pod.podUsage.resources.memory();
  }
  return out;
}

// Accounts of moves look at it; nobody decides by a few points.
bool sameStalls(const api::PodMetric& sent, const api::PodMetric& now) {
  constexpr double kPoints = 10;
  if (!now.extensions && !sent.extensions) return true;
  const auto was = api::stallsOf(sent), is = api::stallsOf(now);
  if (was.has_value() != is.has_value()) return false;
  return !is || (std::abs(was->cpu - is->cpu) < kPoints &&
                 std::abs(was->throttled - is->throttled) < kPoints);
}

// Which applications are there; what they use is told with what their pod uses.
bool sameYarn(const api::PodMetric& sent, const api::PodMetric& now) {
  const auto was = api::yarnOf(sent), is = api::yarnOf(now);
  return std::equal(was.begin(), was.end(), is.begin(), is.end(),
                    [](const api::YarnUse& a, const api::YarnUse& b) {
                      return a.application == b.application && a.containers == b.containers;
                    });
}

bool samePods(const std::vector<api::PodMetric>& sent, const std::vector<api::PodMetric>& now,
              const Comparison& same) {
  const bool isEach = std::equal(sent.begin(), sent.end(), now.begin(), now.end(),
                                 [&](const api::PodMetric& a, const api::PodMetric& b) {
                                   return a.ns == b.ns && a.name == b.name &&
                                          a.priority == b.priority && a.qos == b.qos &&
                                          same.ofPod(a.podUsage, b.podUsage) && sameStalls(a, b) &&
                                          sameYarn(a, b);
                                 });
  if (!isEach) return false;
  const Bands was = bandsOf(sent), is = bandsOf(now);
  return std::all_of(was.begin(), was.end(),
                     [&](const auto& band) { return same.sold(band.second, is.at(band.first)); });
}

bool sameApps(const std::vector<api::HostApplicationMetric>& sent,
              const std::vector<api::HostApplicationMetric>& now, const Comparison& same) {
  return std::equal(sent.begin(), sent.end(), now.begin(), now.end(),
                    [&](const auto& a, const auto& b) {
                      return a.name == b.name && a.priority == b.priority && a.qos == b.qos &&
                             same.ofSold(a.usage, b.usage);
                    });
}

bool samePrediction(const std::optional<api::PredictedMetric>& a,
                    const std::optional<api::PredictedMetric>& b, const Comparison& same) {
  return a.has_value() == b.has_value() && (!a || same.ofSold(a->resource, b->resource));
}

}  // namespace

bool worthSending(const api::NodeMetricStatus& sent, const api::NodeMetricStatus& now,
                  const NodeSize& size, const Tolerance& tolerance) {
  const Comparison same(size, tolerance);
  if (sent.nodeMetric.has_value() != now.nodeMetric.has_value()) return true;
  if (now.nodeMetric && !sameNode(*sent.nodeMetric, *now.nodeMetric, same)) return true;
  if (!samePods(sent.podsMetric, now.podsMetric, same)) return true;
  return !sameApps(sent.hostApplicationMetric, now.hostApplicationMetric, same) ||
         !samePrediction(sent.prodReclaimableMetric, now.prodReclaimableMetric, same) ||
         !samePrediction(sent.prodPeakMetric, now.prodPeakMetric, same);
}

api::NodeMetricStatus withoutNoise(const api::NodeMetricStatus& sent, api::NodeMetricStatus now,
                                   const NodeSize& size, const Tolerance& tolerance) {
  const Comparison same(size, tolerance);
  if (samePods(sent.podsMetric, now.podsMetric, same)) now.podsMetric = sent.podsMetric;
  if (sameApps(sent.hostApplicationMetric, now.hostApplicationMetric, same))
    now.hostApplicationMetric = sent.hostApplicationMetric;
  return now;
}

json::Value statusPatch(const api::NodeMetricStatus& sent, const api::NodeMetricStatus& now) {
  auto difference = json::mergeDiff(toJson(sent), toJson(now));
  // It fails for nulls only, and a status has none; sending all of it is always right.
  return json::Object{{"status", difference ? std::move(*difference) : toJson(now)}};
}

}  // namespace mangrove::agent
