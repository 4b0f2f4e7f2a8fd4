// Which settings a pod gets: its class's, its annotation's, or a template's.
#include <algorithm>

#include "agent/qos/memory_qos/values.h"
#include "api/annotations/qos.h"
#include "api/koordinator/slo_defaults.h"

namespace mangrove::agent {
namespace {

const std::optional<api::ResourceQos>& classOf(api::Qos qos,
                                               const api::ResourceQosStrategy& strategy) {
  switch (qos) {
    case api::Qos::kLse:
    case api::Qos::kLsr:
      return strategy.lsrClass;
    case api::Qos::kBe:
      return strategy.beClass;
    case api::Qos::kSystem:
      return strategy.systemClass;
    default:
      return strategy.lsClass;
  }
}

template <class T>
void lay(const std::optional<T>& over, std::optional<T>& under) {
  if (over) under = over;
}

void overlay(const api::MemoryQos& over, api::MemoryQos& under) {
  lay(over.minLimitPercent, under.minLimitPercent);
  lay(over.lowLimitPercent, under.lowLimitPercent);
  lay(over.throttlingPercent, under.throttlingPercent);
  lay(over.wmarkRatio, under.wmarkRatio);
  lay(over.wmarkScalePermill, under.wmarkScalePermill);
  lay(over.wmarkMinAdj, under.wmarkMinAdj);
  lay(over.pageCacheEnable, under.pageCacheEnable);
  lay(over.pageCacheLimitPercent, under.pageCacheLimitPercent);
  lay(over.pageCacheLimitSize, under.pageCacheLimitSize);
  lay(over.pageCacheReclaimSync, under.pageCacheReclaimSync);
  lay(over.priorityEnable, under.priorityEnable);
  lay(over.priority, under.priority);
  lay(over.oomKillGroup, under.oomKillGroup);
}

}  // namespace

api::MemoryQos gradedByLow(api::MemoryQos qos) {
  constexpr int64_t kSparedLongest = -25, kFirst = 50, kAll = 100;
  const int64_t adjust = std::clamp(qos.wmarkMinAdj.value_or(0), kSparedLongest, kFirst);
  std::optional<Percent>& low = qos.lowLimitPercent;
  if (adjust < 0 && !low) low = Percent{adjust * kAll / kSparedLongest};
  if (adjust > 0 && low) low = Percent{low->v * (kFirst - adjust) / kFirst};
  return qos;
}

api::MemoryQos memoryQosOf(const api::Pod& pod, const api::ResourceQosStrategy& strategy) {
  return memoryQosOf(pod, api::parseMemoryQos(pod.meta.annotations), strategy);
}

api::MemoryQos memoryQosOf(const api::Pod& pod,
                           const Result<std::optional<api::PodMemoryQos>>& said,
                           const api::ResourceQosStrategy& strategy) {
  const api::Qos qos = api::qosWithDefault(pod);
  const auto& group = classOf(qos, strategy);
  api::MemoryQos out;
  if (group && group->memoryQos) out = *group->memoryQos;
  if (!said || !*said) return out;
  if ((*said)->policy == "none") return api::neutralMemory();
  if ((*said)->policy == "auto") out = api::recommendedMemory(qos);
  overlay(**said, out);
  return out;
}

}  // namespace mangrove::agent
