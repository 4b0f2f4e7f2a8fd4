#pragma once
// How a pod wants its CPUs and memory placed, and what the scheduler gave it: annotations
// resource-spec, numa-topology-spec and resource-status of pods. An empty value is an error; words
// we do not know are kept.

#include <string>
#include <vector>

#include "api/annotations/annotation.h"
#include "api/pod/resource_list.h"

namespace mangrove::api {

namespace cpu_bind {
inline constexpr std::string_view kDefault = "Default";
inline constexpr std::string_view kFullPcpus = "FullPCPUs";
inline constexpr std::string_view kSpreadByPcpus = "SpreadByPCPUs";
inline constexpr std::string_view kConstrainedBurst = "ConstrainedBurst";
}  // namespace cpu_bind

struct ResourceSpec {
  std::string requiredCpuBindPolicy;
  std::string preferredCpuBindPolicy;
  std::string preferredCpuExclusivePolicy;  // None, PCPULevel, NUMANodeLevel
  bool operator==(const ResourceSpec&) const = default;
};
bool read(const In& in, ResourceSpec& out);
json::Value toJson(const ResourceSpec& value);
Result<std::optional<ResourceSpec>> parseResourceSpec(const Annotations& pod);

struct NumaTopologySpec {
  std::string numaTopologyPolicy;       // "", BestEffort, Restricted, SingleNUMANode
  std::string singleNumaNodeExclusive;  // Preferred, Required
  bool operator==(const NumaTopologySpec&) const = default;
};
bool read(const In& in, NumaTopologySpec& out);
json::Value toJson(const NumaTopologySpec& value);
Result<std::optional<NumaTopologySpec>> parseNumaTopologySpec(const Annotations& pod);

struct NumaNodeResource {
  int32_t node = 0;
  ResourceList resources;
  bool operator==(const NumaNodeResource&) const = default;
};
bool read(const In& in, NumaNodeResource& out);
json::Value toJson(const NumaNodeResource& value);

struct ResourceStatus {
  std::string cpuset;  // "0-3"
  std::vector<NumaNodeResource> numaNodeResources;
  bool operator==(const ResourceStatus&) const = default;
};
bool read(const In& in, ResourceStatus& out);
json::Value toJson(const ResourceStatus& value);
Result<std::optional<ResourceStatus>> parseResourceStatus(const Annotations& pod);

}  // namespace mangrove::api
