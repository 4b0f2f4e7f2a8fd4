#pragma once
// Quality-of-service settings per class: NodeSLO.spec.resourceQOSStrategy and the ConfigMap key
// resource-qos-config. The same structs without `enable` serve the pod annotations.
// An unset member is "not said here"; the agent lays recommended defaults under it.

#include <optional>
#include <string>
#include <vector>

#include "api/wire/decode.h"
#include "base/number/units.h"
#include "json/fwd.h"

namespace mangrove::api {

struct CpuQos {
  std::optional<int64_t> groupIdentity;  // -1 … 2
  std::optional<int64_t> schedIdle;      // 0, 1
  std::optional<bool> coreExpeller;
  bool operator==(const CpuQos&) const = default;
};
struct CpuQosConfig : CpuQos {
  std::optional<bool> enable;
  bool operator==(const CpuQosConfig&) const = default;
};
bool read(const In& in, CpuQosConfig& out);
json::Value toJson(const CpuQosConfig& value);

struct MemoryQos {
  std::optional<Percent> minLimitPercent;
  std::optional<Percent> lowLimitPercent;
  std::optional<Percent> throttlingPercent;
  std::optional<int64_t> wmarkRatio;
  std::optional<int64_t> wmarkScalePermill;
  std::optional<int64_t> wmarkMinAdj;
  std::optional<bool> pageCacheEnable;
  std::optional<Percent> pageCacheLimitPercent;
  std::optional<int64_t> pageCacheLimitSize;  // bytes; wins over the percentage
  std::optional<bool> pageCacheReclaimSync;
  std::optional<int64_t> priorityEnable;
  std::optional<int64_t> priority;
  std::optional<int64_t> oomKillGroup;
  bool operator==(const MemoryQos&) const = default;
};
struct MemoryQosConfig : MemoryQos {
  std::optional<bool> enable;
  bool operator==(const MemoryQosConfig&) const = default;
};
bool read(const In& in, MemoryQos& out);
bool read(const In& in, MemoryQosConfig& out);
json::Value toJson(const MemoryQos& value);
json::Value toJson(const MemoryQosConfig& value);

struct IoConfig {
  std::optional<int64_t> readIops, writeIops;  // 0: off
  std::optional<int64_t> readBps, writeBps;
  std::optional<Percent> ioWeightPercent;
  std::optional<int64_t> readLatency, writeLatency;  // µs
  std::optional<Percent> readLatencyPercent, writeLatencyPercent;
  std::optional<bool> enableUserModel;
  std::optional<int64_t> modelReadBps, modelWriteBps;
  std::optional<int64_t> modelReadSeqIops, modelWriteSeqIops;
  std::optional<int64_t> modelReadRandIops, modelWriteRandIops;
  bool operator==(const IoConfig&) const = default;
};
struct BlockConfig {
  std::string name;
  std::string type;  // device, volumegroup, podvolume
  IoConfig ioConfig;
  bool operator==(const BlockConfig&) const = default;
};
struct BlkioQos {
  std::vector<BlockConfig> blocks;
  bool operator==(const BlkioQos&) const = default;
};
struct BlkioQosConfig : BlkioQos {
  std::optional<bool> enable;
  bool operator==(const BlkioQosConfig&) const = default;
};
bool read(const In& in, IoConfig& out);
bool read(const In& in, BlockConfig& out);
bool read(const In& in, BlkioQos& out);
bool read(const In& in, BlkioQosConfig& out);
json::Value toJson(const IoConfig& value);
json::Value toJson(const BlockConfig& value);
json::Value toJson(const BlkioQos& value);
json::Value toJson(const BlkioQosConfig& value);

struct ResctrlQosConfig {
  std::optional<bool> enable;
  std::optional<Percent> catRangeStartPercent;
  std::optional<Percent> catRangeEndPercent;
  std::optional<Percent> mbaPercent;
  bool operator==(const ResctrlQosConfig&) const = default;
};
bool read(const In& in, ResctrlQosConfig& out);
json::Value toJson(const ResctrlQosConfig& value);

// A number is a percentage of the node's bandwidth, a text a quantity of bits per second.
struct NetworkQos {
  std::optional<IntOrString> ingressRequest;
  std::optional<IntOrString> ingressLimit;
  std::optional<IntOrString> egressRequest;
  std::optional<IntOrString> egressLimit;
  bool operator==(const NetworkQos&) const = default;
};
struct NetworkQosConfig : NetworkQos {
  std::optional<bool> enable;
  bool operator==(const NetworkQosConfig&) const = default;
};
bool read(const In& in, NetworkQos& out);
bool read(const In& in, NetworkQosConfig& out);
json::Value toJson(const NetworkQos& value);
json::Value toJson(const NetworkQosConfig& value);

struct ResourceQos {
  std::optional<CpuQosConfig> cpuQos;
  std::optional<MemoryQosConfig> memoryQos;
  std::optional<BlkioQosConfig> blkioQos;
  std::optional<ResctrlQosConfig> resctrlQos;
  std::optional<NetworkQosConfig> networkQos;
  bool operator==(const ResourceQos&) const = default;
};
bool read(const In& in, ResourceQos& out);
json::Value toJson(const ResourceQos& value);

struct ResourceQosStrategy {
  struct Policies {
    std::optional<std::string> cpuPolicy;     // groupIdentity, coreSched
    std::optional<std::string> netQosPolicy;  // tc, terway-qos
    bool operator==(const Policies&) const = default;
  };
  std::optional<Policies> policies;
  std::optional<ResourceQos> lsrClass;
  std::optional<ResourceQos> lsClass;
  std::optional<ResourceQos> beClass;
  std::optional<ResourceQos> systemClass;
  std::optional<ResourceQos> cgroupRoot;
  bool operator==(const ResourceQosStrategy&) const = default;
};
bool read(const In& in, ResourceQosStrategy::Policies& out);
json::Value toJson(const ResourceQosStrategy::Policies& value);
bool read(const In& in, ResourceQosStrategy& out);
json::Value toJson(const ResourceQosStrategy& value);

}  // namespace mangrove::api
