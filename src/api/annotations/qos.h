#pragma once
// Quality-of-service settings that a pod asks for itself; the agent lays them over the node's
// strategy. An empty value is an error, an absent annotation leaves the node's settings alone.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/annotations/annotation.h"
#include "api/koordinator/resource_qos.h"
#include "api/koordinator/slo_strategy.h"

namespace mangrove::api {

Result<std::optional<CpuBurstConfig>> parseCpuBurst(const Annotations& pod);

// {policy: default|none|auto, …}; "" is default.
struct PodMemoryQos : MemoryQos {
  std::string policy;
  bool operator==(const PodMemoryQos&) const = default;
};
bool read(const In& in, PodMemoryQos& out);
json::Value toJson(const PodMemoryQos& value);
Result<std::optional<PodMemoryQos>> parseMemoryQos(const Annotations& pod);

// A group identity outside -1 … 2 is an error.
Result<std::optional<CpuQosConfig>> parseCpuQos(const Annotations& pod);
Result<std::optional<BlkioQos>> parseBlkioQos(const Annotations& pod);

// Bits per second; unset or "" is no limit.
struct PodNetworkQos {
  std::optional<Quantity> ingressLimit;
  std::optional<Quantity> egressLimit;
  bool operator==(const PodNetworkQos&) const = default;
};
bool read(const In& in, PodNetworkQos& out);
json::Value toJson(const PodNetworkQos& value);
Result<std::optional<PodNetworkQos>> parseNetworkQos(const Annotations& pod);

// Either a percentage or a range [from, to] of the cache ways or the memory bandwidth.
struct Schemata {
  int64_t percent = 0;
  std::vector<int64_t> range;
  bool operator==(const Schemata&) const = default;
};
bool read(const In& in, Schemata& out);
json::Value toJson(const Schemata& value);
struct CacheSchemata : Schemata {
  int64_t cacheId = 0;
  bool operator==(const CacheSchemata&) const = default;
};
bool read(const In& in, CacheSchemata& out);
json::Value toJson(const CacheSchemata& value);
struct ResctrlResource {
  Schemata schemata;
  std::vector<CacheSchemata> schemataPerCache;
  bool operator==(const ResctrlResource&) const = default;
};
bool read(const In& in, ResctrlResource& out);
json::Value toJson(const ResctrlResource& value);
struct ResctrlConfig {
  ResctrlResource llc;
  ResctrlResource mb;
  bool operator==(const ResctrlConfig&) const = default;
};
bool read(const In& in, ResctrlConfig& out);
json::Value toJson(const ResctrlConfig& value);
// null is absent.
Result<std::optional<ResctrlConfig>> parseResctrl(const Annotations& pod);

// -1000 … 1000: for the whole pod, and by container, which wins.
struct OomScoreAdj {
  std::optional<int> pod;
  std::map<std::string, int> byContainer;

  // What a container gets; nullopt: leave it alone.
  std::optional<int> of(const std::string& container) const;
  bool operator==(const OomScoreAdj&) const = default;
};
Result<OomScoreAdj> parseOomScoreAdj(const Annotations& pod);

// Labels core-sched-group-id and core-sched-policy.
struct CoreSched {
  std::string groupId;  // "" none given
  enum class Policy { kDefault, kNone, kExclusive } policy = Policy::kDefault;
  bool operator==(const CoreSched&) const = default;
};
// An unknown policy word is the default one.
CoreSched coreSchedOf(const Labels& pod);

}  // namespace mangrove::api
