#include "agent/qos/memory_qos/strategy.h"

#include "agent/executor/owners.h"
#include "agent/qos/memory_qos/values.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

using kernel::Feature;

namespace name = kernel::resource_name;
constexpr std::pair<std::string_view, Feature> kNeeds[] = {
    {name::kMemoryMin, Feature::kMemoryMin},
    {name::kMemoryLow, Feature::kMemoryMin},
    {name::kMemoryHigh, Feature::kMemoryHigh},
    {name::kOomGroup, Feature::kOomGroup},
    {name::kWmarkRatio, Feature::kMemoryWatermark},
    {name::kWmarkScale, Feature::kMemoryWatermark},
    {name::kWmarkMinAdj, Feature::kMemoryWatermark},
    {name::kPageCacheEnable, Feature::kPageCacheLimit},
    {name::kPageCacheSize, Feature::kPageCacheLimit},
    {name::kPageCacheSync, Feature::kPageCacheLimit},
    {name::kMemoryPriority, Feature::kMemoryPriority},
    {name::kPriorityOom, Feature::kMemoryPriority},
};

// Asking once beats failing on every pod.
bool isThere(std::string_view resource, const kernel::Capabilities& can) {
  for (const auto& [name, feature] : kNeeds)
    if (resource == name) return can.has(feature);
  return true;
}

}  // namespace

StrategyInfo MemoryQos::info() const {
  return {.name = owner::kMemoryQos, .gate = "CgroupReconcile", .period = std::chrono::seconds(1)};
}

Wishes MemoryQos::decide(const Situation& now) {
  if (!now.look.slo || !now.look.slo->resourceQosStrategy || !now.node)
    return Wishes::holding("no NodeSLO or Node yet");
  MemoryQosInputs in{*now.look.slo->resourceQosStrategy,
                     *now.node,
                     {},
                     now.look.machine->layout(),
                     now.look.machine->pageSize(),
                     !now.look.machine->can().has(Feature::kMemoryWatermark)};
  now.look.book->each([&](const PodPtr& pod) { in.pods.push_back(pod.get()); });
  const MemoryQosValues values = memoryQosValues(in);
  Wishes out;
  for (const auto* level : {&values.tiers, &values.pods, &values.containers})
    for (const MemorySetting& one : *level)
      if (isThere(one.resource, now.look.machine->can()))
        out.base(one.cgroup, one.resource, one.value, "memory QoS of the class");
  return out;
}

}  // namespace mangrove::agent
