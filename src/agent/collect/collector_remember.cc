// What of a Look goes into the history.
#include <array>
#include <limits>
#include <string>

#include "agent/collect/collector.h"
#include "agent/collect/usage_rules.h"
#include "agent/predict/models.h"

namespace mangrove::agent {
namespace {

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void Collector::remember() {
  const NodeLook& node = look_.node;
  Shelf& shelf = history_.node();
  const Shelf::Id track = history_.nodeTrack();
  const auto bytes = [&](uint32_t column, const std::optional<Bytes>& value) {
    if (value) shelf.put(track, column, static_cast<double>(value->v));
  };
  // The first sample after start has no CPU, and then no memory either.
  if (node_.slotCpu() && node.usage.memory) {
    shelf.put(track, node_column::kCpu, *node_.slotCpu());
    bytes(node_column::kMemory, node.usage.memory);
    bytes(node_column::kMemoryWithCache, node.usage.memoryWithCache);
    bytes(node_column::kMemoryHot, node.usage.memoryHot);
  }
  if (node.system.cpu) shelf.put(track, node_column::kSystemCpu, *node.system.cpu);
  bytes(node_column::kSystemMemory, node.system.memory);
  const auto milli = [&](uint32_t column, const std::optional<MilliCpu>& value) {
    if (value) shelf.put(track, column, static_cast<double>(value->v));
  };
  milli(node_column::kBeUsage, node.bestEffort.usage);
  milli(node_column::kBeRequest, node.bestEffort.request);
  milli(node_column::kBeLimit, node.bestEffort.limit);
  for (const NumaLook& numa : node.numa) {
    Shelf& numaShelf = history_.numa();
    const Shelf::Id id = numaShelf.track(std::to_string(numa.node));
    const auto put = [&](uint32_t column, const std::optional<double>& value) {
      if (value) numaShelf.put(id, column, *value);
    };
    const auto asDouble = [](const std::optional<Bytes>& value) {
      return value ? std::optional(static_cast<double>(value->v)) : std::nullopt;
    };
    put(numa_column::kCpu, numa.usage.cpu);
    put(numa_column::kMemory, asDouble(numa.usage.memory));
    put(numa_column::kSystemCpu, numa.system.cpu);
    put(numa_column::kSystemMemory, asDouble(numa.system.memory));
  }
  rememberPods();
  rememberGroups();
}

void Collector::rememberPods() {
  const auto put = [](Shelf& shelf, Shelf::Id track, const Usage& usage, double cpu, bool hot) {
    if (cpu == cpu) shelf.put(track, pod_column::kCpu, cpu);
    if (usage.memory) shelf.put(track, pod_column::kMemory, static_cast<double>(usage.memory->v));
    if (usage.memoryWithCache)
      shelf.put(track, pod_column::kMemoryWithCache, static_cast<double>(usage.memoryWithCache->v));
    if (hot && usage.memoryHot)
      shelf.put(track, pod_column::kHot, static_cast<double>(usage.memoryHot->v));
  };
  const bool hot = history_.options().hotPages;
  const auto& pods = mirror_.pods();
  for (size_t i = 0; i < pods.size(); ++i) {
    put(history_.pods(), *pods[i]->track, podLooks_[i].usage, slotCpu_[i], hot);
    if (podLooks_[i].throttled)
      history_.pods().put(*pods[i]->track, pod_column::kThrottled, *podLooks_[i].throttled);
    for (size_t c = 0; c < pods[i]->containers.size(); ++c) {
      const ContainerLook& one = containerLooks_[i][c];
      const Shelf::Id track = *pods[i]->containers[c].track;
      put(history_.containers(), track, one.usage, one.usage.cpu.value_or(kAbsent), false);
      if (one.throttled)
        history_.containers().put(track, container_column::kThrottled, *one.throttled);
    }
  }
  for (size_t i = 0; i < hostApps_.size(); ++i)
    put(history_.hostApps(), hostApps_[i].track, appLooks_[i].usage, appSlotCpu_[i], hot);
}

// Sums at one moment, so that their percentiles are those of the group and not of its members. A
// group without pods uses nothing.
void Collector::rememberGroups() {
  const NodeLook& node = look_.node;
  if (!node_.slotCpu() || !node.usage.memory) return;
  std::array<CpuAndMemory, 5> bands{};
  std::array<CpuAndMemory, 6> classes{};
  CpuAndMemory all;
  for (size_t i = 0; i < podLooks_.size(); ++i) {
    const PodLook& pod = podLooks_[i];
    const CpuAndMemory used{slotCpu_[i] == slotCpu_[i] ? slotCpu_[i] : 0,
                            pod.usage.memory.value_or(Bytes{0})};
    const auto add = [&](CpuAndMemory& sum) {
      sum.cpu += used.cpu;
      sum.memory += used.memory;
    };
    add(all);
    if (!pod.pod) continue;
    add(bands[static_cast<size_t>(pod.band)]);
    add(classes[static_cast<size_t>(pod.qos)]);
  }
  const auto put = [&](const std::string& key, const CpuAndMemory& sum) {
    const Shelf::Id id = history_.groups().track(key);
    history_.groups().put(id, group_column::kCpu, sum.cpu);
    history_.groups().put(id, group_column::kMemory, static_cast<double>(sum.memory.v));
  };
  for (size_t i = 0; i < bands.size(); ++i)
    put(model_key::ofBand(api::bandName(static_cast<api::PriorityBand>(i))), bands[i]);
  for (size_t i = 1; i < classes.size(); ++i)
    put(model_key::ofQos(api::qosName(static_cast<api::Qos>(i))), classes[i]);
  // Host applications count as system here: nobody else predicts them.
  const CpuAndMemory pods{podsSlotCpu_.value_or(all.cpu), node.pods.memory.value_or(all.memory)};
  put(std::string(model_key::kSystem),
      systemUsage({*node_.slotCpu(), *node.usage.memory}, pods, {}));
}

}  // namespace mangrove::agent
