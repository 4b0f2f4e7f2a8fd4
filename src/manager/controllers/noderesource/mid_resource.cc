#include "manager/controllers/noderesource/mid_resource.h"

namespace mangrove::manager {
namespace {

using Band = api::PriorityBand;

// Host applications above mid count as system usage.
constexpr int32_t kMidDefaultPriority = 7500;

CpuMemory requestsOfServices(const NodeInputs& in) {
  CpuMemory out;
  for (const PodFacts* pod : in.pods)
    if (pod->counts && pod->isHigh() && pod->band != Band::kMid) out += pod->request;
  return out;
}

CpuMemory unallocatedOf(const NodeInputs& in, const CpuMemory& capacity) {
  const CpuMemory system = in.metric->systemUsage + hostUsageAbove(*in.metric, kMidDefaultPriority);
  const CpuMemory reserved = maxOf(system, reservationOf(in.node).amount());
  return notNegative(capacity - reserved - requestsOfServices(in));
}

CpuMemory predicted(const NodeInputs& in, MidTerms& terms) {
  terms.reclaimable = in.metric->prodReclaimable;
  if (in.metric->hasNodeUsage) terms.unused = terms.capacity - in.metric->nodeUsage;
  terms.unallocated = unallocatedOf(in, terms.capacity);
  const Percent share = in.strategy.midUnallocatedPercent.value_or(Percent{0});
  terms.fromUnallocated = percentOf(terms.unallocated, share, share);
  return notNegative(minOf(terms.reclaimable, terms.unused)) + terms.fromUnallocated;
}

}  // namespace

MidResult midResource(const NodeInputs& in) {
  MidResult out;
  out.because = degradedBecause(in);
  out.reset = !out.because.empty();
  if (out.reset) return out;
  const Colocation& s = in.strategy;
  MidTerms& terms = out.terms;
  terms.capacity = cpuMemoryOf(in.node.status.capacity);
  terms.isStatic = s.midReclaimMode == "static";
  terms.cap = percentOf(terms.capacity, s.midCpuThresholdPercent.value_or(Percent{100}),
                        s.midMemoryThresholdPercent.value_or(Percent{100}));
  const CpuMemory offered =
      terms.isStatic ? percentOf(terms.capacity, s.midStaticCpuReservedPercent.value_or(Percent{0}),
                                 s.midStaticMemoryReservedPercent.value_or(Percent{0}))
                     : predicted(in, terms);
  const CpuMemory mid = minOf(offered, terms.cap);
  out.milliCpu = mid.cpu.milliValue();
  out.memoryBytes = mid.memory.value();
  return out;
}

}  // namespace mangrove::manager
