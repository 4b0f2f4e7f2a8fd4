#include "agent/qos/memory_qos/strategy.h"

#include <algorithm>

#include "agent/executor/owners.h"
#include "agent/qos/memory_qos/values.h"
#include "api/wire/names.h"
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

bool isOn(const std::optional<api::ResourceQos>& group) {
  return group && group->memoryQos && group->memoryQos->enable.value_or(false);
}

bool isWanted(const MemoryQosInputs& in) {
  const api::ResourceQosStrategy& all = in.strategy;
  if (isOn(all.lsrClass) || isOn(all.lsClass) || isOn(all.beClass) || isOn(all.systemClass))
    return true;
  return std::any_of(in.pods.begin(), in.pods.end(), [](const api::Pod* pod) {
    return pod->meta.annotations.has(api::annotation::kMemoryQos);
  });
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
                     !now.look.machine->can().has(Feature::kMemoryWatermark),
                     {}};
  now.look.book->each([&](const PodPtr& pod, const PodSaid& said) {
    in.pods.push_back(pod.get());
    in.said.push_back(&said);
  });
  Wishes out;
  // Nobody asked for it: not even neutral values are written, and what was there comes back.
  if (!isWanted(in)) return out;
  const MemoryQosValues values = memoryQosValues(in);
  for (const auto* level : {&values.tiers, &values.pods, &values.containers})
    for (const MemorySetting& one : *level)
      if (isThere(one.resource, now.look.machine->can()))
        out.base(one.cgroup, one.resource, one.value, "memory QoS of the class");
  return out;
}

}  // namespace mangrove::agent
