#include "agent/report/status.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "agent/devices/nvml.h"
#include "api/koordinator/pod_stalls.h"
#include "api/koordinator/yarn_use.h"
#include "api/wire/names.h"

namespace mangrove::agent {
namespace {

int64_t whole(double value) {
  if (!(value > 0)) return 0;
  if (value >= 9.2e18) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(value);
}

uint32_t nodeMemory(MemoryPolicy policy, bool hot) {
  if (policy == MemoryPolicy::kWithCache) return node_column::kMemoryWithCache;
  if (policy == MemoryPolicy::kWithHotCache && hot) return node_column::kMemoryHot;
  return node_column::kMemory;
}

uint32_t podMemory(MemoryPolicy policy, bool hot) {
  if (policy == MemoryPolicy::kWithCache) return pod_column::kMemoryWithCache;
  if (policy == MemoryPolicy::kWithHotCache && hot) return pod_column::kHot;
  return pod_column::kMemory;
}

class Builder {
 public:
  explicit Builder(const StatusInputs& in)
      : in_(in), history_(*in.look.history), end_(in.look.at), hot_(history_.options().hotPages) {}

  api::NodeMetricStatus run() const {
    api::NodeMetricStatus status;
    status.updateTime = in_.look.wall;
    status.nodeMetric = node();
    status.podsMetric = pods();
    status.hostApplicationMetric = hostApps();
    status.prodReclaimableMetric.emplace();
    if (in_.predicted.reclaimable)
      status.prodReclaimableMetric->resource.resources = *in_.predicted.reclaimable;
    if (in_.predicted.peak) status.prodPeakMetric = api::PredictedMetric{{*in_.predicted.peak, {}}};
    return status;
  }

 private:
  MonoTime start() const { return end_ - in_.policy.window; }

  std::optional<api::ResourceMap> average(const Shelf& shelf, Shelf::Id id, uint32_t cpu,
                                          uint32_t memory) const {
    const auto cores = shelf.average(id, cpu, start(), end_);
    const auto bytes = shelf.average(id, memory, start(), end_);
    if (!cores || !bytes) return std::nullopt;
    return api::ResourceMap{resourcesOf(*cores, *bytes), {}};
  }

  // A machine without the memory controller still counts CPU.
  std::optional<api::ResourceMap> cpuAlone(const Shelf& shelf, Shelf::Id id) const {
    const auto cores = shelf.average(id, pod_column::kCpu, start(), end_);
    if (!cores || in_.look.machine->trees().has(kernel::Controller::kMemory)) return std::nullopt;
    api::ResourceMap out{resourcesOf(*cores, 0), {}};
    out.resources.erase(api::resource::kMemory);
    return out;
  }

  // What windows of the policy's length are computed from.
  const Shelf& shelf(HistoryKind kind) const { return history_.over(kind, in_.policy.window); }

  // A coarse series knows nothing yet of who has just come.
  std::optional<api::ResourceMap> usageOf(HistoryKind kind, std::string_view subject, uint32_t cpu,
                                          uint32_t memory) const {
    for (const Shelf* one : {&shelf(kind), &history_.over(kind, Duration::zero())}) {
      const auto id = one->find(subject);
      if (const auto usage = id ? average(*one, *id, cpu, memory) : std::nullopt) return usage;
    }
    return std::nullopt;
  }

  // The five aggregates of one duration. Samples that span less than half of it say too little:
  // the keys are there, the maps empty.
  api::AggregatedUsage over(Duration duration, uint32_t cpu, uint32_t memory) const {
    using api::Aggregation;
    const Shelf& shelf = history_.over(HistoryKind::kNode, duration);
    const auto node = shelf.find(kNodeSubject);
    const MonoTime from = end_ - duration;
    api::AggregatedUsage out{duration, {}};
    const Duration span = node ? shelf.window(*node, cpu, from, end_).span() : Duration::zero();
    const auto all = [&](uint32_t column) {
      return node ? shelf.aggregate(*node, column, from, end_, in_.policy.percentiles)
                  : std::nullopt;
    };
    const auto cores = all(cpu), bytes = all(memory);
    const bool enough = cores && bytes && span * 2 >= duration;
    const auto set = [&](Aggregation kind, double stats::Aggregate::*field) {
      out.set(kind, enough ? api::ResourceMap{resourcesOf((*cores).*field, (*bytes).*field), {}}
                           : api::ResourceMap{});
    };
    set(Aggregation::kAvg, &stats::Aggregate::avg);
    set(Aggregation::kP50, &stats::Aggregate::p50);
    set(Aggregation::kP90, &stats::Aggregate::p90);
    set(Aggregation::kP95, &stats::Aggregate::p95);
    set(Aggregation::kP99, &stats::Aggregate::p99);
    return out;
  }

  api::NodeUsageReport node() const {
    api::NodeUsageReport report;
    const uint32_t memory = nodeMemory(in_.policy.memory, hot_);
    const auto one = [&](uint32_t cpu, uint32_t bytes) {
      return usageOf(HistoryKind::kNode, kNodeSubject, cpu, bytes).value_or(api::ResourceMap{});
    };
    report.nodeUsage = one(node_column::kCpu, memory);
    report.nodeUsage.devices = gpus("");
    report.systemUsage = one(node_column::kSystemCpu, node_column::kSystemMemory);
    for (Duration duration : in_.policy.durations) {
      report.aggregatedNodeUsages.push_back(over(duration, node_column::kCpu, memory));
      report.aggregatedSystemUsages.push_back(
          over(duration, node_column::kSystemCpu, node_column::kSystemMemory));
    }
    report.numaUsages = numa();
    return report;
  }

  // Of the node with prefix "", of a pod with its own.
  std::vector<api::DeviceInfo> gpus(const std::string& prefix) const {
    const Shelf& shelf = this->shelf(HistoryKind::kGpus);
    std::vector<api::DeviceInfo> out;
    if (shelf.tracks() == 0) return out;
    for (const std::string& subject : shelf.subjects()) {
      if (prefix.empty() ? podOfSubject(subject).has_value() : !subject.starts_with(prefix))
        continue;
      const auto mean = [&](uint32_t column) {
        return shelf.average(*shelf.find(subject), column, start(), end_);
      };
      const auto core = mean(gpu_column::kCore), used = mean(gpu_column::kMemory);
      if (!core || !used) continue;
      const GpuName gpu = gpuOfSubject(std::string_view(subject).substr(prefix.size()));
      out.push_back(gpuUsage(
          gpu.uuid, gpu.minor,
          {*core, *used, mean(gpu_column::kMemoryTotal).value_or(0), mean(gpu_column::kCelsius)}));
    }
    std::sort(out.begin(), out.end(),
              [](const auto& a, const auto& b) { return a.minor < b.minor; });
    return out;
  }

  std::vector<api::NumaUsage> numa() const {
    std::vector<api::NumaUsage> out;
    for (int node : in_.look.machine->numaNodes()) {
      const std::string name = std::to_string(node);
      const auto of = [&](uint32_t cpu, uint32_t memory) {
        return usageOf(HistoryKind::kNuma, name, cpu, memory);
      };
      const auto usage = of(numa_column::kCpu, numa_column::kMemory);
      if (!usage) continue;
      const auto system = of(numa_column::kSystemCpu, numa_column::kSystemMemory);
      out.push_back({node, *usage, system.value_or(api::ResourceMap{})});
    }
    return out;
  }

  std::vector<api::PodMetric> pods() const {
    std::vector<api::PodMetric> out;
    const uint32_t memory = podMemory(in_.policy.memory, hot_);
    in_.look.book->each([&](const PodPtr& pod) {
      std::string subject = cgroupUid(*pod);
      std::replace(subject.begin(), subject.end(), '_', '-');
      const auto id = history_.pods().find(subject);
      if (!id) return;
      auto usage = usageOf(HistoryKind::kPods, subject, pod_column::kCpu, memory);
      if (!usage) usage = cpuAlone(history_.pods(), *id);
      if (!usage) return;
      usage->devices = gpus(podGpuPrefix(subject));
      out.push_back({pod->meta.name, pod->meta.ns, *usage,
                     Interned(api::bandName(api::bandWithDefault(*pod))),
                     Interned(api::qosName(api::qosWithDefault(*pod))), extensions(subject, *id)});
    });
    std::sort(out.begin(), out.end(), [](const api::PodMetric& a, const api::PodMetric& b) {
      return a.ns != b.ns ? a.ns < b.ns : a.name < b.name;
    });
    return out;
  }

  std::optional<api::Extensions> extensions(std::string_view subject, Shelf::Id id) const {
    std::optional<api::Extensions> out = stalls(subject, id);
    for (const PodLook& look : in_.look.pods)
      if (look.uid == subject) api::addYarn({look.yarn.begin(), look.yarn.end()}, out);
    return out;
  }

  // Where pressure is measured: what tells others whether a pod has it better elsewhere.
  std::optional<api::Extensions> stalls(std::string_view subject, Shelf::Id id) const {
    const auto& looks = in_.look.pods;
    const auto look = std::find_if(looks.begin(), looks.end(),
                                   [&](const PodLook& one) { return one.uid == subject; });
    if (look == looks.end() || !look->pressure.cpu) return std::nullopt;
    const auto throttled = history_.pods().average(id, pod_column::kThrottled, start(), end_);
    return api::extensionsOf({look->pressure.cpu->some.avg60, 100 * throttled.value_or(0)});
  }

  std::vector<api::HostApplicationMetric> hostApps() const {
    std::vector<api::HostApplicationMetric> out;
    const uint32_t memory = podMemory(in_.policy.memory, hot_);
    for (const api::HostApplication& app :
         in_.look.slo ? in_.look.slo->hostApplications : std::vector<api::HostApplication>{}) {
      const auto usage = usageOf(HistoryKind::kHostApps, app.name, pod_column::kCpu, memory);
      if (usage) out.push_back({app.name, *usage, Interned(app.priority), Interned(app.qos)});
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return out;
  }

  const StatusInputs& in_;
  const History& history_;
  MonoTime end_;
  bool hot_;
};

}  // namespace

api::ResourceList resourcesOf(double cores, double bytes) {
  api::ResourceList list;
  list.set(api::resourceNames().cpu, Quantity::ofMilli(whole(cores * 1000)));
  list.set(api::resourceNames().memory, Quantity::of(Bytes{whole(bytes)}));
  return list;
}

api::NodeMetricStatus buildStatus(const StatusInputs& inputs) {
  return Builder(inputs).run();
}

}  // namespace mangrove::agent
