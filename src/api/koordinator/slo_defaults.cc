#include "api/koordinator/slo_defaults.h"

#include "api/wire/overlay.h"

namespace mangrove::api {
namespace {

CpuQos cpuOf(int64_t identity, bool expeller) {
  CpuQos out;
  out.groupIdentity = identity;
  out.schedIdle = 0;
  out.coreExpeller = expeller;
  return out;
}

CpuQos recommendedCpu(Qos qos) {
  if (qos == Qos::kBe) return cpuOf(-1, false);
  return qos == Qos::kSystem ? cpuOf(0, false) : cpuOf(2, true);
}

MemoryQos memoryOf(int64_t ratio, int64_t scale, int64_t adjust) {
  MemoryQos out;
  out.minLimitPercent = out.lowLimitPercent = out.throttlingPercent = Percent{0};
  out.wmarkRatio = ratio;
  out.wmarkScalePermill = scale;
  out.wmarkMinAdj = adjust;
  out.priorityEnable = out.priority = out.oomKillGroup = 0;
  return out;
}

ResctrlQosConfig cacheUpTo(int64_t percent) {
  ResctrlQosConfig out;
  out.enable = false;
  out.catRangeStartPercent = Percent{0};
  out.catRangeEndPercent = Percent{percent};
  out.mbaPercent = Percent{100};
  return out;
}

NetworkQos neutralNetwork() {
  NetworkQos out;
  out.ingressRequest = out.ingressLimit = out.egressRequest = out.egressLimit = IntOrString{};
  return out;
}

ResourceQos classOf(Qos qos) {
  ResourceQos out;
  static_cast<CpuQos&>(out.cpuQos.emplace()) = recommendedCpu(qos);
  static_cast<MemoryQos&>(out.memoryQos.emplace()) = recommendedMemory(qos);
  static_cast<NetworkQos&>(out.networkQos.emplace()) = neutralNetwork();
  out.resctrlQos = cacheUpTo(qos == Qos::kBe ? 30 : 100);
  out.cpuQos->enable = out.memoryQos->enable = out.networkQos->enable = false;
  return out;
}

bool isOff(const auto& block) {
  return block && !block->enable.value_or(false);
}

void neutraliseIfOff(std::optional<ResourceQos>& group) {
  if (!group) return;
  if (isOff(group->cpuQos)) static_cast<CpuQos&>(*group->cpuQos) = cpuOf(0, false);
  if (isOff(group->memoryQos)) static_cast<MemoryQos&>(*group->memoryQos) = neutralMemory();
  if (isOff(group->resctrlQos)) group->resctrlQos = cacheUpTo(100);
  if (isOff(group->networkQos)) static_cast<NetworkQos&>(*group->networkQos) = neutralNetwork();
  if (isOff(group->blkioQos)) group->blkioQos->blocks.clear();
}

// A NodeSLO without the member has the defaults alone.
template <class Strategy>
std::optional<Strategy> over(const Strategy& defaults, const std::optional<Strategy>& said) {
  return said ? merged(defaults, *said) : defaults;
}

}  // namespace

ResourceThresholdStrategy defaultThreshold() {
  ResourceThresholdStrategy out;
  out.enable = false;
  out.cpuSuppressThresholdPercent = Percent{65};
  out.cpuSuppressPolicy = "cpuset";
  out.memoryEvictThresholdPercent = Percent{70};
  out.cpuEvictPolicy = "evictByRealLimit";
  return out;
}

CpuBurstStrategy defaultCpuBurst() {
  CpuBurstStrategy out;
  out.policy = "none";
  out.cpuBurstPercent = Percent{1000};
  out.cfsQuotaBurstPercent = Percent{300};
  out.cfsQuotaBurstPeriodSeconds = -1;
  out.sharePoolThresholdPercent = Percent{50};
  return out;
}

SystemStrategy defaultSystem() {
  SystemStrategy out;
  out.totalNetworkBandwidth = Quantity();  // "0" is always on the wire
  return out;
}

MemoryQos neutralMemory() {
  return memoryOf(0, 50, 0);
}

MemoryQos recommendedMemory(Qos qos) {
  if (qos == Qos::kSystem) return neutralMemory();
  MemoryQos out = memoryOf(95, 20, qos == Qos::kBe ? 50 : -25);
  out.lowLimitPercent.reset();
  return out;
}

ResourceQosStrategy defaultResourceQos() {
  ResourceQosStrategy out;
  out.policies.emplace();
  out.policies->cpuPolicy = "groupIdentity";
  out.policies->netQosPolicy = "tc";
  out.lsrClass = classOf(Qos::kLsr);
  out.lsClass = classOf(Qos::kLs);
  out.beClass = classOf(Qos::kBe);
  out.systemClass = classOf(Qos::kSystem);
  return out;
}

NodeSloSpec completed(const NodeSloSpec& said) {
  NodeSloSpec out = said;
  out.resourceUsedThresholdWithBe = over(defaultThreshold(), said.resourceUsedThresholdWithBe);
  out.cpuBurstStrategy = over(defaultCpuBurst(), said.cpuBurstStrategy);
  out.systemStrategy = over(defaultSystem(), said.systemStrategy);
  out.resourceQosStrategy = over(defaultResourceQos(), said.resourceQosStrategy);
  ResourceQosStrategy& qos = *out.resourceQosStrategy;
  for (auto* group : {&qos.lsrClass, &qos.lsClass, &qos.beClass, &qos.systemClass, &qos.cgroupRoot})
    neutraliseIfOff(*group);
  return out;
}

}  // namespace mangrove::api
