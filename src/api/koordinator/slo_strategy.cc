#include "api/koordinator/slo_strategy.h"

#include "api/wire/schema.h"

namespace mangrove::api {

using Threshold = ResourceThresholdStrategy;
static constexpr Schema kThreshold{
    unlessUnset<&Threshold::enable>("enable"),
    unlessUnset<&Threshold::cpuSuppressThresholdPercent>("cpuSuppressThresholdPercent"),
    unlessUnset<&Threshold::cpuSuppressMinPercent>("cpuSuppressMinPercent"),
    unlessUnset<&Threshold::cpuSuppressPolicy>("cpuSuppressPolicy"),
    unlessUnset<&Threshold::memoryEvictThresholdPercent>("memoryEvictThresholdPercent"),
    unlessUnset<&Threshold::memoryEvictLowerPercent>("memoryEvictLowerPercent"),
    unlessUnset<&Threshold::memoryAllocatableEvictThresholdPercent>(
        "memoryAllocatableEvictThresholdPercent"),
    unlessUnset<&Threshold::memoryAllocatableEvictLowerPercent>(
        "memoryAllocatableEvictLowerPercent"),
    unlessUnset<&Threshold::cpuEvictBESatisfactionUpperPercent>(
        "cpuEvictBESatisfactionUpperPercent"),
    unlessUnset<&Threshold::cpuEvictBESatisfactionLowerPercent>(
        "cpuEvictBESatisfactionLowerPercent"),
    unlessUnset<&Threshold::cpuEvictBEUsageThresholdPercent>("cpuEvictBEUsageThresholdPercent"),
    unlessUnset<&Threshold::cpuEvictTimeWindowSeconds>("cpuEvictTimeWindowSeconds"),
    unlessUnset<&Threshold::cpuEvictThresholdPercent>("cpuEvictThresholdPercent"),
    unlessUnset<&Threshold::cpuEvictLowerPercent>("cpuEvictLowerPercent"),
    unlessUnset<&Threshold::cpuAllocatableEvictThresholdPercent>(
        "cpuAllocatableEvictThresholdPercent"),
    unlessUnset<&Threshold::cpuAllocatableEvictLowerPercent>("cpuAllocatableEvictLowerPercent"),
    unlessUnset<&Threshold::cpuEvictPolicy>("cpuEvictPolicy"),
    unlessUnset<&Threshold::evictEnabledPriorityThreshold>("evictEnabledPriorityThreshold"),
    unlessUnset<&Threshold::allocatableEvictPriorityThreshold>("allocatableEvictPriorityThreshold"),
};
bool read(const In& in, ResourceThresholdStrategy& out) {
  return kThreshold.read(in, out);
}
json::Value toJson(const ResourceThresholdStrategy& value) {
  return kThreshold.write(value);
}

static constexpr Schema kBurst{
    unlessUnset<&CpuBurstConfig::policy>("policy"),
    unlessUnset<&CpuBurstConfig::cpuBurstPercent>("cpuBurstPercent"),
    unlessUnset<&CpuBurstConfig::cfsQuotaBurstPercent>("cfsQuotaBurstPercent"),
    unlessUnset<&CpuBurstConfig::cfsQuotaBurstPeriodSeconds>("cfsQuotaBurstPeriodSeconds"),
};
bool read(const In& in, CpuBurstConfig& out) {
  return kBurst.read(in, out);
}
json::Value toJson(const CpuBurstConfig& value) {
  return kBurst.write(value);
}

static constexpr Schema kBurstOfNode{
    unlessUnset<&CpuBurstStrategy::sharePoolThresholdPercent>("sharePoolThresholdPercent"),
};
bool read(const In& in, CpuBurstStrategy& out) {
  return kBurst.read(in, out) && kBurstOfNode.read(in, out);
}
json::Value toJson(const CpuBurstStrategy& value) {
  json::Object out;
  kBurst.writeInto(out, value);
  kBurstOfNode.writeInto(out, value);
  return out;
}

static constexpr Schema kSystem{
    unlessUnset<&SystemStrategy::minFreeKbytesFactor>("minFreeKbytesFactor"),
    unlessUnset<&SystemStrategy::watermarkScaleFactor>("watermarkScaleFactor"),
    unlessUnset<&SystemStrategy::memcgReapBackGround>("memcgReapBackGround"),
    unlessUnset<&SystemStrategy::schedGroupIdentityEnabled>("schedGroupIdentityEnabled"),
    unlessUnset<&SystemStrategy::schedIdleSaverWmark>("schedIdleSaverWmark"),
    unlessUnset<&SystemStrategy::schedFeatures>("schedFeatures"),
    unlessUnset<&SystemStrategy::pageCacheLimitEnabled>("pageCacheLimitEnabled"),
    unlessUnset<&SystemStrategy::totalNetworkBandwidth>("totalNetworkBandwidth"),
};
bool read(const In& in, SystemStrategy& out) {
  return kSystem.read(in, out);
}
json::Value toJson(const SystemStrategy& value) {
  return kSystem.write(value);
}

using CgroupPath = HostApplication::CgroupPath;
static constexpr Schema kCgroupPath{
    unlessUnset<&CgroupPath::base>("base"),
    unlessUnset<&CgroupPath::parentDir>("parentDir"),
    unlessUnset<&CgroupPath::relativePath>("relativePath"),
};
bool read(const In& in, HostApplication::CgroupPath& out) {
  return kCgroupPath.read(in, out);
}
json::Value toJson(const HostApplication::CgroupPath& value) {
  return kCgroupPath.write(value);
}

static constexpr Schema kHostApplication{
    unlessUnset<&HostApplication::name>("name"),
    unlessUnset<&HostApplication::priority>("priority"),
    unlessUnset<&HostApplication::qos>("qos"),
    unlessUnset<&HostApplication::cgroupPath>("cgroupPath"),
    unlessUnset<&HostApplication::strategy>("strategy"),
};
bool read(const In& in, HostApplication& out) {
  return kHostApplication.read(in, out);
}
json::Value toJson(const HostApplication& value) {
  return kHostApplication.write(value);
}

}  // namespace mangrove::api
