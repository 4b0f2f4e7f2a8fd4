#include "manager/controllers/noderesource/batch_resource.h"

#include "api/wire/names.h"

namespace mangrove::manager {
namespace {

using Band = api::PriorityBand;

// Host applications above batch count as system usage.
constexpr int32_t kBatchDefaultPriority = 5500;

// What one high-priority pod adds to the three sums.
struct HighShare {
  CpuMemory used, request, max;
};

HighShare shareOfPod(const PodFacts& pod, const PodUsage* measured) {
  if (pod.isRoom) return {{}, pod.request, pod.request};
  if (measured == nullptr) return {pod.request, pod.request, pod.request};
  const CpuMemory& usage = measured->usage;
  HighShare out{usage, pod.request, maxOf(pod.request, usage)};
  if (pod.qos == api::Qos::kLse) out.used.cpu = pod.request.cpu;  // its CPUs are its own
  return out;
}

CpuMemory zoneCapacity(const api::Zone& zone) {
  CpuMemory out;
  if (const auto* cpu = zone.find(api::resource::kCpu)) out.cpu = cpu->allocatable;
  if (const auto* memory = zone.find(api::resource::kMemory)) out.memory = memory->allocatable;
  return out;
}

bool hasZoneResources(const api::NodeResourceTopology* topology) {
  if (topology == nullptr) return false;
  for (const auto& zone : topology->zones)
    if (zone.find(api::resource::kCpu) || zone.find(api::resource::kMemory)) return true;
  return false;
}

// Adds a pod's share to the zones it runs on: those it is pinned to, else all.
void addToZones(std::vector<ZoneBatch>& zones, const PodFacts& pod, const HighShare& share) {
  std::vector<size_t> places;
  for (int32_t numa : pod.numaNodes)
    if (numa >= 0 && static_cast<size_t>(numa) < zones.size())
      places.push_back(static_cast<size_t>(numa));
  if (places.empty())
    for (size_t i = 0; i < zones.size(); i++) places.push_back(i);
  const auto parts = static_cast<int64_t>(places.size());
  for (size_t place : places) {
    BatchTerms& terms = zones[place].terms;
    terms.highUsed += shareOf(share.used, parts);
    terms.highRequest += shareOf(share.request, parts);
    terms.highMax += shareOf(share.max, parts);
  }
}

// Measured, but no pod of ours: it may be starting, or its object is gone before its processes.
void addDangling(BatchResult& out, const PodUsage& measured) {
  if (measured.band == Band::kBatch || measured.band == Band::kFree) return;
  out.terms.highUsed += measured.usage;
  out.terms.highMax += measured.usage;
  if (out.zones.empty()) return;
  const CpuMemory share = shareOf(measured.usage, static_cast<int64_t>(out.zones.size()));
  for (auto& zone : out.zones) {
    zone.terms.highUsed += share;
    zone.terms.highMax += share;
  }
}

void addPods(BatchResult& out, const NodeInputs& in) {
  std::vector<bool> met(in.metric->pods.size());
  for (const PodFacts* pod : in.pods) {
    if (!pod->counts) continue;
    const PodUsage* measured = in.metric->find(pod->key);
    if (measured) met[static_cast<size_t>(measured - in.metric->pods.data())] = true;
    if (!pod->isHigh()) continue;
    const HighShare share = shareOfPod(*pod, measured);
    out.terms.highUsed += share.used;
    out.terms.highRequest += share.request;
    out.terms.highMax += share.max;
    if (!out.zones.empty()) addToZones(out.zones, *pod, share);
  }
  for (size_t i = 0; i < met.size(); i++)
    if (!met[i]) addDangling(out, in.metric->pods[i]);
}

void setMargin(BatchTerms& terms, const Colocation& strategy) {
  const Percent cpu = strategy.cpuReclaimThresholdPercent.value_or(Percent{60});
  const Percent memory = strategy.memoryReclaimThresholdPercent.value_or(Percent{65});
  terms.margin = percentOf(terms.capacity, Percent{100} - cpu, Percent{100} - memory);
}

void setZones(BatchResult& out, const NodeInputs& in) {
  if (!hasZoneResources(in.topology)) return;
  const auto parts = static_cast<int64_t>(in.topology->zones.size());
  const auto& measured = in.metric->numaSystem;
  const CpuMemory hosts = hostUsageAbove(*in.metric, kBatchDefaultPriority);
  for (const auto& zone : in.topology->zones) {
    ZoneBatch& batch = out.zones.emplace_back();
    batch.zone = zone.name;
    batch.terms.capacity = zoneCapacity(zone);
    setMargin(batch.terms, in.strategy);
    batch.terms.system = shareOf(out.terms.system, parts);
    // Measured per NUMA node: host applications alone are still shared equally.
    if (measured.size() == in.topology->zones.size())
      batch.terms.system = measured[out.zones.size() - 1] + shareOf(hosts, parts);
    batch.terms.reserved = shareOf(out.terms.reserved, parts);
  }
}

Quantity allowanceFor(ReclaimPolicy policy, const BatchTerms& t, Quantity CpuMemory::*part) {
  const Quantity base = t.capacity.*part - t.margin.*part;
  const Quantity taken = std::max(t.system.*part, t.reserved.*part);
  switch (policy) {
    case ReclaimPolicy::kRequest:
      return base - t.reserved.*part - t.highRequest.*part;
    case ReclaimPolicy::kMaxUsageRequest:
      return base - taken - t.highMax.*part;
    case ReclaimPolicy::kUsage:
      break;
  }
  return base - taken - t.highUsed.*part;
}

}  // namespace

ReclaimPolicy reclaimPolicyOf(const std::optional<std::string>& word) {
  if (word == "request") return ReclaimPolicy::kRequest;
  if (word == "maxUsageRequest") return ReclaimPolicy::kMaxUsageRequest;
  return ReclaimPolicy::kUsage;
}

std::string_view reclaimPolicyName(ReclaimPolicy policy) {
  switch (policy) {
    case ReclaimPolicy::kRequest:
      return "request";
    case ReclaimPolicy::kMaxUsageRequest:
      return "maxUsageRequest";
    case ReclaimPolicy::kUsage:
      break;
  }
  return "usage";
}

BatchPolicies batchPolicies(const Colocation& strategy) {
  BatchPolicies out{reclaimPolicyOf(strategy.cpuCalculatePolicy),
                    reclaimPolicyOf(strategy.memoryCalculatePolicy),
                    strategy.batchCpuThresholdPercent, strategy.batchMemoryThresholdPercent};
  if (out.cpu == ReclaimPolicy::kRequest) out.cpu = ReclaimPolicy::kUsage;
  return out;
}

CpuMemory batchAllowance(const BatchTerms& terms, const BatchPolicies& policies) {
  CpuMemory out = notNegative({allowanceFor(policies.cpu, terms, &CpuMemory::cpu),
                               allowanceFor(policies.memory, terms, &CpuMemory::memory)});
  const CpuMemory cap = percentOf(terms.capacity, policies.cpuThreshold.value_or(Percent{0}),
                                  policies.memoryThreshold.value_or(Percent{0}));
  if (policies.cpuThreshold) out.cpu = std::min(out.cpu, cap.cpu);
  if (policies.memoryThreshold) out.memory = std::min(out.memory, cap.memory);
  return out;
}

BatchResult batchResource(const NodeInputs& in) {
  BatchResult out;
  out.because = degradedBecause(in);
  out.reset = !out.because.empty();
  if (out.reset) return out;
  out.policies = batchPolicies(in.strategy);
  out.terms.capacity = cpuMemoryOf(in.node.status.capacity);
  setMargin(out.terms, in.strategy);
  out.terms.system = in.metric->systemUsage + hostUsageAbove(*in.metric, kBatchDefaultPriority);
  out.terms.reserved = reservationOf(in.node).amount();
  setZones(out, in);
  addPods(out, in);
  const CpuMemory sold = batchAllowance(out.terms, out.policies);
  out.milliCpu = sold.cpu.milliValue();
  out.memoryBytes = sold.memory.value();
  for (auto& zone : out.zones) {
    const CpuMemory zoneSold = batchAllowance(zone.terms, out.policies);
    zone.milliCpu = zoneSold.cpu.milliValue();
    zone.memory = zoneSold.memory;
  }
  return out;
}

}  // namespace mangrove::manager
