#pragma once
// The strategies of NodeSLO and of the ConfigMap keys resource-threshold-config, cpu-burst-config,
// system-config and host-application-config. Plain values: an unset member
// is "not said here", so that strategies can be merged; defaults belong to whoever merges.
//
//   Result<ResourceThresholdStrategy> s = decodeText<ResourceThresholdStrategy>(text);
//   Percent limit = s->cpuSuppressThresholdPercent.value_or(Percent{65});

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/wire/decode.h"
#include "base/number/units.h"
#include "json/fwd.h"

namespace mangrove::api {

struct ResourceThresholdStrategy {
  std::optional<bool> enable;
  std::optional<Percent> cpuSuppressThresholdPercent;
  std::optional<Percent> cpuSuppressMinPercent;
  std::string cpuSuppressPolicy;  // cpuset, cfsQuota
  std::optional<Percent> memoryEvictThresholdPercent;
  std::optional<Percent> memoryEvictLowerPercent;
  std::optional<Percent> memoryAllocatableEvictThresholdPercent;
  std::optional<Percent> memoryAllocatableEvictLowerPercent;
  std::optional<Percent> cpuEvictBESatisfactionUpperPercent;
  std::optional<Percent> cpuEvictBESatisfactionLowerPercent;
  std::optional<Percent> cpuEvictBEUsageThresholdPercent;
  std::optional<int64_t> cpuEvictTimeWindowSeconds;
  std::optional<Percent> cpuEvictThresholdPercent;
  std::optional<Percent> cpuEvictLowerPercent;
  std::optional<Percent> cpuAllocatableEvictThresholdPercent;
  std::optional<Percent> cpuAllocatableEvictLowerPercent;
  std::string cpuEvictPolicy;  // evictByRealLimit, evictByAllocatable
  std::optional<int32_t> evictEnabledPriorityThreshold;
  std::optional<int32_t> allocatableEvictPriorityThreshold;
  bool operator==(const ResourceThresholdStrategy&) const = default;
};
bool read(const In& in, ResourceThresholdStrategy& out);
json::Value toJson(const ResourceThresholdStrategy& value);

// What a pod may ask for in its annotation.
struct CpuBurstConfig {
  std::string policy;  // none, cpuBurstOnly, cfsQuotaBurstOnly, auto
  std::optional<Percent> cpuBurstPercent;
  std::optional<Percent> cfsQuotaBurstPercent;
  std::optional<int64_t> cfsQuotaBurstPeriodSeconds;  // -1: without end
  bool operator==(const CpuBurstConfig&) const = default;
};
bool read(const In& in, CpuBurstConfig& out);
json::Value toJson(const CpuBurstConfig& value);

struct CpuBurstStrategy : CpuBurstConfig {
  std::optional<Percent> sharePoolThresholdPercent;
  bool operator==(const CpuBurstStrategy&) const = default;
};
bool read(const In& in, CpuBurstStrategy& out);
json::Value toJson(const CpuBurstStrategy& value);

struct SystemStrategy {
  std::optional<int64_t> minFreeKbytesFactor;  // in 1/10000 of the memory
  std::optional<int64_t> watermarkScaleFactor;
  std::optional<int64_t> memcgReapBackGround;
  std::optional<int64_t> schedGroupIdentityEnabled;
  std::optional<int64_t> schedIdleSaverWmark;  // ns
  std::map<std::string, bool> schedFeatures;
  std::optional<int64_t> pageCacheLimitEnabled;
  // Bits per second. The reference has no "unset" here and writes "0"; ours sets a zero where the
  // wire needs one.
  std::optional<Quantity> totalNetworkBandwidth;
  bool operator==(const SystemStrategy&) const = default;
};
bool read(const In& in, SystemStrategy& out);
json::Value toJson(const SystemStrategy& value);

// A process outside Kubernetes that is managed with it.
struct HostApplication {
  struct CgroupPath {
    std::string base;  // CgroupRoot, Kubepods, KubepodsBurstable, KubepodsBesteffort
    std::string parentDir;
    std::string relativePath;
    bool operator==(const CgroupPath&) const = default;
  };
  std::string name;
  std::string priority;  // koord-prod …
  std::string qos;
  std::optional<CgroupPath> cgroupPath;
  std::optional<RawJson> strategy;  // an object reserved for later
  bool operator==(const HostApplication&) const = default;
};
bool read(const In& in, HostApplication::CgroupPath& out);
json::Value toJson(const HostApplication::CgroupPath& value);
bool read(const In& in, HostApplication& out);
json::Value toJson(const HostApplication& value);

}  // namespace mangrove::api
