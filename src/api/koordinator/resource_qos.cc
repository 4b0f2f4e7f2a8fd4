#include "api/koordinator/resource_qos.h"

#include "api/wire/schema.h"

namespace mangrove::api {
namespace {

// `enable` comes first, then the settings that pods can have too.
template <class Config, class EnableSchema, class QosSchema>
json::Value writeConfig(const Config& value, const EnableSchema& enable, const QosSchema& qos) {
  json::Object out;
  enable.writeInto(out, value);
  qos.writeInto(out, value);
  return out;
}

}  // namespace

static constexpr Schema kCpu{
    unlessUnset<&CpuQos::groupIdentity>("groupIdentity"),
    unlessUnset<&CpuQos::schedIdle>("schedIdle"),
    unlessUnset<&CpuQos::coreExpeller>("coreExpeller"),
};
static constexpr Schema kCpuEnable{unlessUnset<&CpuQosConfig::enable>("enable")};
bool read(const In& in, CpuQosConfig& out) {
  return kCpuEnable.read(in, out) && kCpu.read(in, out);
}
json::Value toJson(const CpuQosConfig& value) {
  return writeConfig(value, kCpuEnable, kCpu);
}

static constexpr Schema kMemory{
    unlessUnset<&MemoryQos::minLimitPercent>("minLimitPercent"),
    unlessUnset<&MemoryQos::lowLimitPercent>("lowLimitPercent"),
    unlessUnset<&MemoryQos::throttlingPercent>("throttlingPercent"),
    unlessUnset<&MemoryQos::wmarkRatio>("wmarkRatio"),
    unlessUnset<&MemoryQos::wmarkScalePermill>("wmarkScalePermill"),
    unlessUnset<&MemoryQos::wmarkMinAdj>("wmarkMinAdj"),
    unlessUnset<&MemoryQos::pageCacheEnable>("pageCacheEnable"),
    unlessUnset<&MemoryQos::pageCacheLimitPercent>("pageCacheLimitPercent"),
    unlessUnset<&MemoryQos::pageCacheLimitSize>("pageCacheLimitSize"),
    unlessUnset<&MemoryQos::pageCacheReclaimSync>("pageCacheReclaimSync"),
    unlessUnset<&MemoryQos::priorityEnable>("priorityEnable"),
    unlessUnset<&MemoryQos::priority>("priority"),
    unlessUnset<&MemoryQos::oomKillGroup>("oomKillGroup"),
};
static constexpr Schema kMemoryEnable{unlessUnset<&MemoryQosConfig::enable>("enable")};
bool read(const In& in, MemoryQos& out) {
  return kMemory.read(in, out);
}
bool read(const In& in, MemoryQosConfig& out) {
  return kMemoryEnable.read(in, out) && kMemory.read(in, out);
}
json::Value toJson(const MemoryQos& value) {
  return kMemory.write(value);
}
json::Value toJson(const MemoryQosConfig& value) {
  return writeConfig(value, kMemoryEnable, kMemory);
}

static constexpr Schema kIo{
    unlessUnset<&IoConfig::readIops>("readIOPS"),
    unlessUnset<&IoConfig::writeIops>("writeIOPS"),
    unlessUnset<&IoConfig::readBps>("readBPS"),
    unlessUnset<&IoConfig::writeBps>("writeBPS"),
    unlessUnset<&IoConfig::ioWeightPercent>("ioWeightPercent"),
    unlessUnset<&IoConfig::readLatency>("readLatency"),
    unlessUnset<&IoConfig::writeLatency>("writeLatency"),
    unlessUnset<&IoConfig::readLatencyPercent>("readLatencyPercent"),
    unlessUnset<&IoConfig::writeLatencyPercent>("writeLatencyPercent"),
    unlessUnset<&IoConfig::enableUserModel>("enableUserModel"),
    unlessUnset<&IoConfig::modelReadBps>("modelReadBPS"),
    unlessUnset<&IoConfig::modelWriteBps>("modelWriteBPS"),
    unlessUnset<&IoConfig::modelReadSeqIops>("modelReadSeqIOPS"),
    unlessUnset<&IoConfig::modelWriteSeqIops>("modelWriteSeqIOPS"),
    unlessUnset<&IoConfig::modelReadRandIops>("modelReadRandIOPS"),
    unlessUnset<&IoConfig::modelWriteRandIops>("modelWriteRandIOPS"),
};
bool read(const In& in, IoConfig& out) {
  return kIo.read(in, out);
}
json::Value toJson(const IoConfig& value) {
  return kIo.write(value);
}

static constexpr Schema kBlock{
    unlessUnset<&BlockConfig::name>("name"),
    unlessUnset<&BlockConfig::type>("type"),
    unlessUnset<&BlockConfig::ioConfig>("ioCfg"),
};
bool read(const In& in, BlockConfig& out) {
  return kBlock.read(in, out);
}
json::Value toJson(const BlockConfig& value) {
  return kBlock.write(value);
}

static constexpr Schema kBlkio{unlessUnset<&BlkioQos::blocks>("blocks")};
static constexpr Schema kBlkioEnable{unlessUnset<&BlkioQosConfig::enable>("enable")};
bool read(const In& in, BlkioQos& out) {
  return kBlkio.read(in, out);
}
bool read(const In& in, BlkioQosConfig& out) {
  return kBlkioEnable.read(in, out) && kBlkio.read(in, out);
}
json::Value toJson(const BlkioQos& value) {
  return kBlkio.write(value);
}
json::Value toJson(const BlkioQosConfig& value) {
  return writeConfig(value, kBlkioEnable, kBlkio);
}

static constexpr Schema kResctrl{
    unlessUnset<&ResctrlQosConfig::enable>("enable"),
    unlessUnset<&ResctrlQosConfig::catRangeStartPercent>("catRangeStartPercent"),
    unlessUnset<&ResctrlQosConfig::catRangeEndPercent>("catRangeEndPercent"),
    unlessUnset<&ResctrlQosConfig::mbaPercent>("mbaPercent"),
};
bool read(const In& in, ResctrlQosConfig& out) {
  return kResctrl.read(in, out);
}
json::Value toJson(const ResctrlQosConfig& value) {
  return kResctrl.write(value);
}

static constexpr Schema kNetwork{
    unlessUnset<&NetworkQos::ingressRequest>("ingressRequest"),
    unlessUnset<&NetworkQos::ingressLimit>("ingressLimit"),
    unlessUnset<&NetworkQos::egressRequest>("egressRequest"),
    unlessUnset<&NetworkQos::egressLimit>("egressLimit"),
};
static constexpr Schema kNetworkEnable{unlessUnset<&NetworkQosConfig::enable>("enable")};
bool read(const In& in, NetworkQos& out) {
  return kNetwork.read(in, out);
}
bool read(const In& in, NetworkQosConfig& out) {
  return kNetworkEnable.read(in, out) && kNetwork.read(in, out);
}
json::Value toJson(const NetworkQos& value) {
  return kNetwork.write(value);
}
json::Value toJson(const NetworkQosConfig& value) {
  return writeConfig(value, kNetworkEnable, kNetwork);
}

static constexpr Schema kResourceQos{
    unlessUnset<&ResourceQos::cpuQos>("cpuQOS"),
    unlessUnset<&ResourceQos::memoryQos>("memoryQOS"),
    unlessUnset<&ResourceQos::blkioQos>("blkioQOS"),
    unlessUnset<&ResourceQos::resctrlQos>("resctrlQOS"),
    unlessUnset<&ResourceQos::networkQos>("networkQOS"),
};
bool read(const In& in, ResourceQos& out) {
  return kResourceQos.read(in, out);
}
json::Value toJson(const ResourceQos& value) {
  return kResourceQos.write(value);
}

using Policies = ResourceQosStrategy::Policies;
static constexpr Schema kPolicies{
    unlessUnset<&Policies::cpuPolicy>("cpuPolicy"),
    unlessUnset<&Policies::netQosPolicy>("netQOSPolicy"),
};
bool read(const In& in, ResourceQosStrategy::Policies& out) {
  return kPolicies.read(in, out);
}
json::Value toJson(const ResourceQosStrategy::Policies& value) {
  return kPolicies.write(value);
}

static constexpr Schema kStrategy{
    unlessUnset<&ResourceQosStrategy::policies>("policies"),
    unlessUnset<&ResourceQosStrategy::lsrClass>("lsrClass"),
    unlessUnset<&ResourceQosStrategy::lsClass>("lsClass"),
    unlessUnset<&ResourceQosStrategy::beClass>("beClass"),
    unlessUnset<&ResourceQosStrategy::systemClass>("systemClass"),
    unlessUnset<&ResourceQosStrategy::cgroupRoot>("cgroupRoot"),
};
bool read(const In& in, ResourceQosStrategy& out) {
  return kStrategy.read(in, out);
}
json::Value toJson(const ResourceQosStrategy& value) {
  return kStrategy.write(value);
}

}  // namespace mangrove::api
