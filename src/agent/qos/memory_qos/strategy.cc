#include "agent/qos/memory_qos/strategy.h"

#include "agent/executor/owners.h"
#include "agent/qos/memory_qos/values.h"

namespace mangrove::agent {
namespace {

using kernel::Feature;

// Asking once beats failing on every pod.
bool isThere(std::string_view resource, const kernel::Capabilities& can) {
  const auto starts = [&](std::string_view prefix) {
    return resource.substr(0, prefix.size()) == prefix;
  };
  if (resource == "memory.min" || resource == "memory.low") return can.has(Feature::kMemoryMin);
  if (resource == "memory.high") return can.has(Feature::kMemoryHigh);
  if (resource == "memory.oom.group") return can.has(Feature::kOomGroup);
  if (starts("memory.wmark")) return can.has(Feature::kMemoryWatermark);
  if (starts("memory.pagecache")) return can.has(Feature::kPageCacheLimit);
  return can.has(Feature::kMemoryPriority);
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
