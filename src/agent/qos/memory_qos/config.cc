// Which settings a pod gets: its class's, its annotation's, or a template's.
#include <algorithm>

#include "agent/qos/memory_qos/values.h"
#include "api/annotations/qos.h"

namespace mangrove::agent {
namespace {

api::MemoryQos templateOf(int64_t ratio, int64_t scale, int64_t adjust) {
  api::MemoryQos out;
  out.minLimitPercent = out.lowLimitPercent = out.throttlingPercent = Percent{0};
  out.wmarkRatio = ratio;
  out.wmarkScalePermill = scale;
  out.wmarkMinAdj = adjust;
  out.priorityEnable = out.priority = out.oomKillGroup = 0;
  return out;
}

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

const api::MemoryQos& neutralMemoryQos() {
  static const api::MemoryQos neutral = templateOf(0, 50, 0);
  return neutral;
}

const api::MemoryQos& recommendedMemoryQos(api::Qos qos) {
  static const api::MemoryQos service = templateOf(95, 20, -25);
  static const api::MemoryQos batch = templateOf(95, 20, 50);
  if (qos == api::Qos::kSystem) return neutralMemoryQos();
  return qos == api::Qos::kBe ? batch : service;
}

api::MemoryQos gradedByLow(api::MemoryQos qos) {
  constexpr int64_t kSparedLongest = -25, kFirst = 50, kAll = 100;
  const int64_t adjust = std::clamp(qos.wmarkMinAdj.value_or(0), kSparedLongest, kFirst);
  const int64_t low = qos.lowLimitPercent.value_or(Percent{0}).v;
  if (adjust < 0) qos.lowLimitPercent = Percent{std::max(low, adjust * kAll / kSparedLongest)};
  if (adjust > 0 && low > 0) qos.lowLimitPercent = Percent{low * (kFirst - adjust) / kFirst};
  return qos;
}

api::MemoryQos memoryQosOf(const api::Pod& pod, const api::ResourceQosStrategy& strategy) {
  const api::Qos qos = api::qosWithDefault(pod);
  const auto& group = classOf(qos, strategy);
  api::MemoryQos out;
  if (group && group->memoryQos) out = *group->memoryQos;
  auto said = api::parseMemoryQos(pod.meta.annotations);
  if (!said || !*said) return out;
  if ((*said)->policy == "none") return neutralMemoryQos();
  if ((*said)->policy == "auto") out = recommendedMemoryQos(qos);
  overlay(**said, out);
  return out;
}

}  // namespace mangrove::agent
