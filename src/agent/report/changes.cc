#include "agent/report/changes.h"

#include <algorithm>
#include <cstdlib>

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
  bool ofPart(const api::ResourceMap& sent, const api::ResourceMap& now) const {
    const int64_t cpu = sent.resources.cpu().v, memory = sent.resources.memory().v;
    return sameKeys(sent, now) &&
           within(cpu, now.resources.cpu().v,
                  share(cpu, tolerance_.ownShare, tolerance_.cpuFloor.v)) &&
           within(memory, now.resources.memory().v,
                  share(memory, tolerance_.ownShare, tolerance_.memoryFloor.v));
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
  return same.ofNode(a.nodeUsage, b.nodeUsage) && same.ofNode(a.systemUsage, b.systemUsage) &&
         sameAggregates(a.aggregatedNodeUsages, b.aggregatedNodeUsages, same) &&
         sameAggregates(a.aggregatedSystemUsages, b.aggregatedSystemUsages, same) &&
         std::equal(a.numaUsages.begin(), a.numaUsages.end(), b.numaUsages.begin(),
                    b.numaUsages.end(), [&](const api::NumaUsage& x, const api::NumaUsage& y) {
                      return x.numaNodeId == y.numaNodeId &&
                             same.ofNode(x.nodeUsage, y.nodeUsage) &&
                             same.ofNode(x.systemUsage, y.systemUsage);
                    });
}

bool samePods(const std::vector<api::PodMetric>& sent, const std::vector<api::PodMetric>& now,
              const Comparison& same) {
  return std::equal(sent.begin(), sent.end(), now.begin(), now.end(),
                    [&](const api::PodMetric& a, const api::PodMetric& b) {
                      return a.ns == b.ns && a.name == b.name && a.priority == b.priority &&
                             a.qos == b.qos && same.ofPart(a.podUsage, b.podUsage);
                    });
}

bool sameApps(const std::vector<api::HostApplicationMetric>& sent,
              const std::vector<api::HostApplicationMetric>& now, const Comparison& same) {
  return std::equal(sent.begin(), sent.end(), now.begin(), now.end(),
                    [&](const auto& a, const auto& b) {
                      return a.name == b.name && a.priority == b.priority && a.qos == b.qos &&
                             same.ofPart(a.usage, b.usage);
                    });
}

bool samePrediction(const std::optional<api::PredictedMetric>& a,
                    const std::optional<api::PredictedMetric>& b, const Comparison& same) {
  return a.has_value() == b.has_value() && (!a || same.ofNode(a->resource, b->resource));
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
