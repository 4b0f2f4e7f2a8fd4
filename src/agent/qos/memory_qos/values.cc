#include "agent/qos/memory_qos/values.h"

#include <algorithm>
#include <array>

#include "agent/collect/pod_book.h"
#include "api/wire/names.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

using api::KubeQos;
using kernel::PodTier;
using Settings = std::vector<MemorySetting>;

// What one pod is worth to its QoS directory; nullopt: no percentage was said.
struct TierSum {
  std::optional<Bytes> min, low;
};
using TierSums = std::array<TierSum, 3>;

PodTier tierOf(KubeQos qos) {
  return qos == KubeQos::kGuaranteed  ? PodTier::kGuaranteed
         : qos == KubeQos::kBurstable ? PodTier::kBurstable
                                      : PodTier::kBestEffort;
}

bool isBatch(const api::Pod& pod) {
  return api::rawQos(pod.meta.labels) == api::Qos::kBe;
}

Bytes amountOf(const api::ResourceList& list, bool batch) {
  return {list.amount(batch ? api::resource::kBatchMemory : api::resource::kMemory).value()};
}

MemoryAmounts amountsOf(const api::Container& container, bool batch) {
  return {amountOf(container.requests, batch), amountOf(container.limits, batch)};
}

void put(Settings& out, const std::string& cgroup, std::string_view resource,
         std::optional<int64_t> value) {
  if (value) out.push_back({cgroup, resource, FileValue::of(*value)});
}

// min and low; a low below min is raised to it.
struct Protection {
  std::optional<int64_t> min, low;
};
Protection protectionOf(Bytes request, const api::MemoryQos& qos) {
  Protection out;
  if (qos.minLimitPercent) out.min = protectedBytes(request, *qos.minLimitPercent).v;
  if (qos.lowLimitPercent) out.low = protectedBytes(request, *qos.lowLimitPercent).v;
  if (out.low && out.min && *out.low > 0 && *out.low < *out.min) out.low = out.min;
  return out;
}

void putCommon(Settings& out, const std::string& cgroup, Bytes request, const api::MemoryQos& qos) {
  const Protection protection = protectionOf(request, qos);
  put(out, cgroup, kernel::resource_name::kMemoryMin, protection.min);
  put(out, cgroup, kernel::resource_name::kMemoryLow, protection.low);
  put(out, cgroup, kernel::resource_name::kWmarkRatio, qos.wmarkRatio);
  put(out, cgroup, kernel::resource_name::kWmarkScale, qos.wmarkScalePermill);
  put(out, cgroup, kernel::resource_name::kWmarkMinAdj, qos.wmarkMinAdj);
  put(out, cgroup, kernel::resource_name::kMemoryPriority, qos.priority);
  put(out, cgroup, kernel::resource_name::kPriorityOom, qos.priorityEnable);
  put(out, cgroup, kernel::resource_name::kOomGroup, qos.oomKillGroup);
}

// Services count the limits they have; batch pods are unlimited as soon as one container is.
Bytes podLimit(const api::Pod& pod, bool batch) {
  Bytes sum{0};
  bool any = false, all = true;
  for (const api::Container& container : pod.spec->containers) {
    const Bytes limit = amountOf(container.limits, batch);
    const bool has = batch ? limit.v > 0 : container.limits.has(api::resource::kMemory);
    sum += limit;
    any |= has;
    all &= has;
  }
  return (batch ? all : any) ? sum : Bytes{-1};
}

std::optional<int64_t> cacheSize(const api::MemoryQos& qos, Bytes limit) {
  if (qos.pageCacheLimitSize)
    return limit.v > 0 ? std::min(*qos.pageCacheLimitSize, limit.v) : *qos.pageCacheLimitSize;
  if (qos.pageCacheLimitPercent && limit.v > 0)
    return protectedBytes(limit, *qos.pageCacheLimitPercent).v;
  return std::nullopt;
}

void putPageCache(Settings& out, const std::string& cgroup, Bytes limit,
                  const api::MemoryQos& qos) {
  const auto size = cacheSize(qos, limit);
  std::optional<int64_t> enable;
  if (size) enable = *size > 0 ? 1 : 0;
  if (qos.pageCacheEnable) enable = *qos.pageCacheEnable ? 1 : 0;
  put(out, cgroup, kernel::resource_name::kPageCacheEnable, enable);
  put(out, cgroup, kernel::resource_name::kPageCacheSize, size);
  if (size && *size > 0)
    put(out, cgroup, kernel::resource_name::kPageCacheSync,
        qos.pageCacheReclaimSync.value_or(false));
}

void addTo(std::optional<Bytes>& sum, Bytes request, const std::optional<Percent>& percent) {
  if (percent) sum = sum.value_or(Bytes{0}) + protectedBytes(request, *percent);
}

// A class that says where its watermark is and not what is spared spares nothing, unless that
// stands in for the watermark.
api::MemoryQos settled(api::MemoryQos qos, bool gradeByLow) {
  if (gradeByLow) qos = gradedByLow(std::move(qos));
  if (!qos.lowLimitPercent && qos.wmarkMinAdj) qos.lowLimitPercent = Percent{0};
  return qos;
}

void putContainers(const MemoryQosInputs& in, const api::Pod& pod, const std::string& podDir,
                   const api::MemoryQos& qos, Settings& out) {
  const bool batch = isBatch(pod);
  const Bytes allocatable = in.node.status.allocatable.memory();
  for (const api::Container& container : pod.spec->containers) {
    const api::ContainerStatus* status = pod.status.find(container.name);
    if (!status || status->containerId.view().empty()) continue;
    auto cgroup = in.layout.containerDir(podDir, status->containerId.view());
    if (!cgroup) continue;
    const MemoryAmounts amounts = amountsOf(container, batch);
    putCommon(out, *cgroup, amounts.request, qos);
    if (!qos.throttlingPercent) continue;
    int64_t high = throttleAt(amounts, allocatable, *qos.throttlingPercent, in.pageSize);
    const int64_t min = protectionOf(amounts.request, qos).min.value_or(0);
    if (high > 0 && high < min) high = min;
    put(out, *cgroup, kernel::resource_name::kMemoryHigh, high);
  }
}

void putTiers(const MemoryQosInputs& in, const TierSums& sums, Settings& out) {
  const std::optional<api::ResourceQos>* classes[] = {&in.strategy.lsrClass, &in.strategy.lsClass,
                                                      &in.strategy.beClass};
  TierSum all;
  for (const TierSum& one : sums) {
    if (one.min) all.min = all.min.value_or(Bytes{0}) + *one.min;
    if (one.low) all.low = all.low.value_or(Bytes{0}) + *one.low;
  }
  for (PodTier tier : {PodTier::kGuaranteed, PodTier::kBurstable, PodTier::kBestEffort}) {
    const auto index = static_cast<size_t>(tier);
    const std::string cgroup = in.layout.tierDir(tier);
    // The guaranteed pods' directory is the parent of the other two.
    const TierSum& sum = tier == PodTier::kGuaranteed ? all : sums[index];
    if (sum.min) put(out, cgroup, kernel::resource_name::kMemoryMin, sum.min->v);
    if (sum.low) put(out, cgroup, kernel::resource_name::kMemoryLow, sum.low->v);
    if (!*classes[index] || !(*classes[index])->memoryQos) continue;
    const api::MemoryQos& qos = *(*classes[index])->memoryQos;
    put(out, cgroup, kernel::resource_name::kMemoryPriority, qos.priority);
    put(out, cgroup, kernel::resource_name::kPriorityOom, qos.priorityEnable);
    put(out, cgroup, kernel::resource_name::kOomGroup, qos.oomKillGroup);
  }
}

}  // namespace

Bytes protectedBytes(Bytes request, Percent percent) {
  return request * percent.v / 100;
}

int64_t throttleAt(MemoryAmounts amounts, Bytes allocatable, Percent throttling, Bytes page) {
  if (throttling.v == 0) return kUnlimited;
  const Bytes limit = amounts.limit.v > 0 ? amounts.limit : allocatable;
  const Bytes high = amounts.request + (limit - amounts.request) * throttling.v / 100;
  return high.v / page.v * page.v;
}

MemoryQosValues memoryQosValues(const MemoryQosInputs& in) {
  MemoryQosValues out;
  TierSums sums;
  for (size_t i = 0; i < in.pods.size(); ++i) {
    const api::Pod* pod = in.pods[i];
    const auto phase = pod->status.phase;
    if (phase != api::PodPhase::kPending && phase != api::PodPhase::kRunning) continue;
    const api::MemoryQos qos =
        settled(in.said.empty() ? memoryQosOf(*pod, in.strategy)
                                : memoryQosOf(*pod, in.said[i]->memory, in.strategy),
                in.gradeByLow);
    const PodTier tier = tierOf(api::kubeQos(*pod));
    const bool batch = isBatch(*pod);
    Bytes request{0};
    for (const api::Container& one : pod->spec->containers)
      request += amountOf(one.requests, batch);
    addTo(sums[static_cast<size_t>(tier)].min, request, qos.minLimitPercent);
    addTo(sums[static_cast<size_t>(tier)].low, request, qos.lowLimitPercent);
    const std::string cgroup = in.layout.podDir(tier, cgroupUid(*pod));
    putCommon(out.pods, cgroup, request, qos);
    putPageCache(out.pods, cgroup, podLimit(*pod, batch), qos);
    putContainers(in, *pod, cgroup, qos, out.containers);
  }
  putTiers(in, sums, out.tiers);
  return out;
}

}  // namespace mangrove::agent
