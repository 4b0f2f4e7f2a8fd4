#include "sim/recorded.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "api/koordinator/node_metric.h"
#include "api/object/core_objects.h"
#include "api/object/node.h"
#include "api/pod/pod_requests.h"
#include "api/wire/decode.h"
#include "api/wire/names.h"

namespace mangrove::sim {
namespace {

constexpr Seconds kStep = 60;
constexpr double kLeastCores = 0.01;  // of a pod that asks for nothing
constexpr int64_t kLeastBytes = 16 << 20;
constexpr double kMostCurve = 100;
constexpr std::string_view kConfigName = "slo-controller-config";

double coresIn(const api::ResourceList& list) {
  return static_cast<double>(list.amount("cpu").milliValue()) / 1000;
}

std::string keyOf(json::View object) {
  const json::View meta = object["metadata"];
  return fmt::format("{}/{}", meta["namespace"].string().value_or(""),
                     meta["name"].string().value_or(""));
}

Seconds secondsBetween(WallTime from, WallTime to) {
  return std::chrono::duration_cast<std::chrono::seconds>(to - from).count();
}

}  // namespace

// ---- what was seen ---------------------------------------------------------------------------

void RecordedCluster::saw(std::string_view plural, json::View object, WallTime at) {
  if (begin_ == WallTime{}) begin_ = at;
  passes(at);
  if (plural == "pods") sawPod(object, at);
  if (plural == "nodes") sawNode(object, at);
  if (plural == "nodemetrics") sawMetric(object);
  if (plural == "configmaps") sawConfig(object);
}

void RecordedCluster::gone(std::string_view plural, json::View object, WallTime at) {
  passes(at);
  if (plural == "pods") podGone(keyOf(object), at);
  if (plural != "nodes") return;
  const auto found = machines_.find(std::string(object["metadata"]["name"].string().value_or("")));
  if (found != machines_.end()) found->second.absences.emplace_back(at, WallTime{});
}

void RecordedCluster::listed(std::string_view plural, json::View list, WallTime at) {
  std::set<std::string> there;
  for (const json::View item : list["items"].elements()) {
    saw(plural, item, at);
    if (plural == "pods") there.insert(keyOf(item));
  }
  if (plural != "pods") return;
  std::vector<std::string> lost;
  for (const auto& [key, pod] : byName_)
    if (!there.contains(key)) lost.push_back(key);
  for (const std::string& key : lost) podGone(key, at);
}

void RecordedCluster::podGone(const std::string& key, WallTime at) {
  const auto found = byName_.find(key);
  if (found == byName_.end()) return;
  if (pods_[found->second].until == WallTime{}) pods_[found->second].until = at;
  byName_.erase(found);
}

// Counts from the moment it has a node; a namesake that comes later is another one.
void RecordedCluster::sawPod(json::View object, WallTime at) {
  const auto pod = api::decode<api::Pod>(object);
  if (!pod || pod->nodeName.empty()) return;
  const std::string key = keyOf(object);
  if (api::isTerminated(*pod)) {
    if (const auto known = byName_.find(key); known != byName_.end()) {
      pods_[known->second].isDone = true;
      podGone(key, at);
    }
    return;
  }
  if (byName_.contains(key)) return;
  const api::ResourceList wants = api::podRequests(*pod);
  Pod one;
  one.name = key;
  one.isTask = wants.has(api::resource::kBatchCpu) || wants.has(api::resource::kBatchMemory);
  one.cores = one.isTask
                  ? static_cast<double>(wants.amount(api::resource::kBatchCpu).value()) / 1000
                  : coresIn(wants);
  one.bytes = one.isTask ? wants.amount(api::resource::kBatchMemory).value() : wants.memory().v;
  one.from = at;
  byName_[key] = pods_.size();
  pods_.push_back(std::move(one));
}

void RecordedCluster::sawNode(json::View object, WallTime at) {
  const auto node = api::decode<api::Node>(object);
  if (!node) return;
  Machine& machine = machines_[node->meta.name.str()];
  machine.milli = node->status.capacity.cpu().v;
  machine.bytes = node->status.capacity.memory().v;
  machine.allocatableMilli = node->status.allocatable.cpu().v;
  machine.allocatableBytes = node->status.allocatable.memory().v;
  auto& absences = machine.absences;
  const bool isAway = !absences.empty() && absences.back().second == WallTime{};
  const bool isReady = node->status.conditions.empty() || node->isReady();
  if (isAway && isReady) absences.back().second = at;
  if (!isAway && !isReady) absences.emplace_back(at, WallTime{});
}

void RecordedCluster::sawMetric(json::View object) {
  const auto metric = api::decode<api::NodeMetric>(object);
  if (!metric || !metric->status.nodeMetric || metric->status.updateTime == kZeroTime) return;
  const WallTime at = metric->status.updateTime;
  Machine& machine = machines_[metric->meta.name.str()];
  if (!machine.system.empty() && machine.system.back().at >= at) return;  // the same once more
  const auto& system = metric->status.nodeMetric->systemUsage.resources;
  machine.system.push_back(
      {at, static_cast<float>(coresIn(system)), static_cast<float>(system.memory().v)});
  for (const api::PodMetric& pod : metric->status.podsMetric) {
    const auto known = byName_.find(fmt::format("{}/{}", pod.ns.view(), pod.name.view()));
    if (known == byName_.end()) continue;
    pods_[known->second].uses.push_back({at, static_cast<float>(coresIn(pod.podUsage.resources)),
                                         static_cast<float>(pod.podUsage.resources.memory().v)});
  }
}

void RecordedCluster::sawConfig(json::View object) {
  if (object["metadata"]["name"].string().value_or("") != kConfigName) return;
  std::map<std::string, std::string> data;
  for (const auto& [key, value] : object["data"].members())
    data[std::string(key)] = std::string(value.string().value_or(""));
  config_ = std::move(data);
}

// ---- the trace -------------------------------------------------------------------------------

struct RecordedCluster::Window {
  WallTime from, to;
  Seconds length() const { return secondsBetween(from, to) / kStep * kStep; }
  Seconds of(WallTime at) const { return std::max<Seconds>(secondsBetween(from, at), 0); }
};

Result<Trace> RecordedCluster::trace(Duration last) const {
  Window window{begin_, end_};
  if (window.to - window.from > last)
    window.from = window.to - std::chrono::duration_cast<WallTime::duration>(last);
  Trace out;
  out.step = kStep;
  out.length = window.length();
  if (out.length < 2 * kStep)
    return invalid("the recording covers {} s: want at least {} s",
                   secondsBetween(window.from, window.to), 2 * kStep);
  addMachines(window, out);
  if (out.nodes.empty())
    return invalid("the recording shows no nodes: want one of a manager or up");
  for (const Pod& pod : pods_) {
    const bool before = pod.until != WallTime{} && pod.until <= window.from;
    if (before || pod.from >= window.to) continue;
    pod.isTask ? addTask(pod, window, out) : addService(pod, window, out);
  }
  return out;
}

void RecordedCluster::addMachines(const Window& window, Trace& out) const {
  for (const auto& [name, machine] : machines_) {
    if (machine.milli <= 0 || machine.bytes <= 0) continue;
    NodeGroup group;
    group.name = name;
    group.cpu = {machine.milli};
    group.memory = {machine.bytes};
    group.allocatableCpu = {std::min(machine.allocatableMilli, machine.milli)};
    group.allocatableMemory = {std::min(machine.allocatableBytes, machine.bytes)};
    if (!machine.system.empty()) addSystem(machine, window, group, out);
    for (const auto& [from, to] : machine.absences) {
      const WallTime end = to == WallTime{} ? window.to : to;
      if (end <= window.from || from >= window.to) continue;
      out.outages.push_back(
          {name + "-0", window.of(from), std::max<Seconds>(window.of(end) - window.of(from), 1)});
    }
    out.nodes.push_back(std::move(group));
  }
}

// A report is of the minute before it.
Curve RecordedCluster::curveOf(const std::vector<Use>& uses, double unit, const Window& window) {
  Curve out{"", kStep, {}};
  out.points.resize(static_cast<size_t>(window.length() / kStep));
  size_t next = 0;
  for (size_t i = 0; i < out.points.size(); i++) {
    const WallTime end = window.from + std::chrono::seconds(static_cast<Seconds>(i + 1) * kStep);
    while (next + 1 < uses.size() && uses[next].at < end) next++;
    out.points[i] = uses.empty() ? 0 : static_cast<float>(uses[next].cores / unit);
  }
  return out;
}

// What a machine itself uses, and others on it who are no pods, goes up and down as it was measured.
void RecordedCluster::addSystem(const Machine& machine, const Window& window, NodeGroup& group,
                                Trace& out) {
  const double cores = static_cast<double>(machine.milli) / 1000;
  Curve curve = curveOf(machine.system, cores, window);
  curve.name = fmt::format("c{}", out.curves.size());
  double bytes = 0, mean = 0;
  for (const Use& use : machine.system) bytes += use.bytes;
  for (const float point : curve.points) mean += point / static_cast<double>(curve.points.size());
  mean = std::clamp(mean, 0.001, 0.999);
  for (float& point : curve.points) point = static_cast<float>(point / mean);
  group.systemCpu = {std::max<int64_t>(std::llround(1000 * mean * cores), 1)};
  group.systemMemory = {std::llround(bytes / static_cast<double>(machine.system.size()))};
  group.systemCurve = out.curves.size();
  out.curves.push_back(std::move(curve));
}

// How much a report differs from the one before it, as a share of the mean.
double RecordedCluster::noiseOf(const std::vector<Use>& uses) {
  double moved = 0, sum = 0;
  for (size_t i = 1; i < uses.size(); i++) moved += std::abs(uses[i].cores - uses[i - 1].cores);
  for (const Use& use : uses) sum += use.cores;
  return sum > 0 ? std::min(moved / sum, 0.5) : 0;
}

void RecordedCluster::addService(const Pod& pod, const Window& window, Trace& out) const {
  Service service;
  float most = 0;
  double bytes = 0;
  for (const Use& use : pod.uses) most = std::max(most, use.cores), bytes += use.bytes;
  const double cores = std::max({pod.cores, kLeastCores, most / kMostCurve});
  Curve curve = curveOf(pod.uses, cores, window);
  curve.name = fmt::format("c{}", out.curves.size());
  // Nobody measured it: the manager took it for what it asked for, and so does the trace.
  if (pod.uses.empty()) {
    std::fill(curve.points.begin(), curve.points.end(), static_cast<float>(pod.cores / cores));
    service.memoryUse = 1;
  }
  double sum = 0;
  for (const float point : curve.points) sum += 0.7 + 0.3 * point;
  service.name = fmt::format("s{}", out.services.size());
  service.cpu = {std::max<int64_t>(std::llround(1000 * cores), 1)};
  service.memory = {std::max(pod.bytes, kLeastBytes)};
  service.curve = out.curves.size();
  service.noise = noiseOf(pod.uses);
  if (!pod.uses.empty())
    service.memoryUse =
        bytes / static_cast<double>(pod.uses.size()) /
        (static_cast<double>(service.memory.v) * sum / static_cast<double>(curve.points.size()));
  service.at = window.of(pod.from);
  if (pod.until != WallTime{} && pod.until < window.to)
    service.until = std::max(window.of(pod.until), service.at + 1);
  out.curves.push_back(std::move(curve));
  out.services.push_back(std::move(service));
}

// A task that was there until the end goes on beyond it.
void RecordedCluster::addTask(const Pod& pod, const Window& window, Trace& out) const {
  Job job;
  job.name = fmt::format("j{}", out.jobs.size());
  job.at = window.of(pod.from);
  const double cores = std::max(pod.cores, kLeastCores);
  job.cpu = {std::max<int64_t>(std::llround(1000 * cores), 1)};
  job.memory = {std::max(pod.bytes, kLeastBytes)};
  const bool ends = pod.until != WallTime{} && pod.until < window.to;
  job.work = ends ? std::max<Seconds>(window.of(pod.until) - job.at, 1) : out.length;
  double used = 0, bytes = 0;
  for (const Use& use : pod.uses) used += use.cores, bytes += use.bytes;
  if (!pod.uses.empty()) {
    const auto count = static_cast<double>(pod.uses.size());
    job.cpuUse = std::clamp(used / count / cores, 0.001, 10.0);
    job.memoryUse = std::clamp(bytes / count / static_cast<double>(job.memory.v), 0.001, 10.0);
  }
  out.jobs.push_back(std::move(job));
}

}  // namespace mangrove::sim
