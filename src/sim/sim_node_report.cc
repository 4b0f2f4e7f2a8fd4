// What the manager and the scheduler hear of a simulated node.
#include <algorithm>
#include <cmath>

#include "api/pod/resource_list.h"
#include "sim/sim_node.h"
#include "sim/use.h"

namespace mangrove::sim {
namespace {

constexpr double kWorthAReport = 0.02;    // of the node, since the last one
constexpr Seconds kLongestSilence = 600;  // as long as agents are silent when nothing changes

manager::CpuMemory amounts(double cores, int64_t bytes) {
  return {Quantity::ofMilli(std::llround(cores * 1000)), Quantity::of(Bytes{bytes})};
}

void put(api::ResourceMap& map, double cores, int64_t bytes) {
  const auto& names = api::resourceNames();
  map.resources.set(names.cpu, Quantity::ofMilli(std::llround(cores * 1000)));
  map.resources.set(names.memory, Quantity::of(Bytes{bytes}));
}

}  // namespace

void SimNode::learn(WallTime now) {
  agent::Lesson prod;
  for (const SimPod& pod : pods_) {
    if (pod.isTask) continue;
    const agent::Lesson lesson{pod.got, static_cast<double>(pod.bytes)};
    prod.cores += lesson.cores;
    prod.bytes += lesson.bytes;
    book_.learn(pod.object->meta.uid.str(), lesson, now);
  }
  book_.learnGroups({system_, static_cast<double>(systemMemory_)}, prod, now);
}

// Who sees ahead counts a replica with the most it will use in the next hour.
double SimNode::reportedCores(const SimPod& pod, Seconds at) const {
  if (pod.peaks == nullptr) return pod.window.mean();
  const auto cell = std::min(static_cast<size_t>(at / step()), pod.peaks->size() - 1);
  return coresWanted(pod.cpu, (*pod.peaks)[cell], pod.noise, 1);
}

manager::MetricFacts SimNode::facts(Seconds at) const {
  manager::MetricFacts out;
  out.updateTime = wall(at);
  out.hasNodeMetric = out.hasNodeUsage = true;
  out.nodeUsage = amounts(usedCores(), usedBytes());
  out.systemUsage = amounts(system_, systemMemory_);
  std::vector<PeakBook::Replica> replicas;
  for (const SimPod& pod : pods_) {
    out.pods.push_back({pod.facts.key, pod.facts.band, amounts(reportedCores(pod, at), pod.bytes)});
    if (!pod.isTask) replicas.push_back({pod.object.get(), std::chrono::seconds(at - pod.starts)});
  }
  if (!context_.policy.predicts) return out;
  const agent::Amounts free = book_.reclaimable(*seller_.node(), replicas, wall(at));
  out.prodReclaimable = {Quantity::of(free.cpu), Quantity::of(free.memory)};
  return out;
}

void SimNode::sell(Seconds at, StepReport& report) {
  std::vector<const manager::PodFacts*> pods;
  for (const SimPod& pod : pods_) pods.push_back(&pod.facts);
  auto before = seller_.node();
  if (!seller_.sell(wall(at), pods, facts(at))) return;
  report.sums.writes++;
  report.before = std::move(before);
}

// The agent reports what somebody would decide otherwise by, and everything every ten minutes.
void SimNode::report(Seconds at, StepReport& report) {
  const double use = usedCores();
  const bool isExact = context_.stepping == Stepping::kExact;
  const bool moved = std::abs(use - reportedUse_) > kWorthAReport * capacity_;
  if (!isExact && reportedUse_ >= 0 && !moved && at - reportedAt_ < kLongestSilence) return;
  reportedUse_ = use;
  reportedAt_ = at;
  auto out = std::make_shared<api::NodeMetric>();
  out->meta.name = seller_.node()->meta.name;
  out->status.updateTime = wall(at);
  auto& node = out->status.nodeMetric.emplace();
  put(node.nodeUsage, use, usedBytes());
  put(node.systemUsage, system_, systemMemory_);
  for (const SimPod& pod : pods_) {
    api::PodMetric& one = out->status.podsMetric.emplace_back();
    one.name = pod.object->meta.name;
    one.ns = pod.object->meta.ns;
    one.priority = Interned(pod.isTask ? "koord-batch" : "koord-prod");
    one.qos = Interned(pod.isTask ? "BE" : "LS");
    put(one.podUsage, pod.window.mean(), pod.bytes);
  }
  report.metric = std::move(out);
}

}  // namespace mangrove::sim
