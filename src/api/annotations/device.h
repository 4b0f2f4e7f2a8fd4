#pragma once
// Devices a pod got, and how it wants them chosen; the partitions of a node's GPUs. An empty value
// is an error except where noted.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/annotations/annotation.h"
#include "api/pod/resource_list.h"
#include "api/select/label_selector.h"

namespace mangrove::api {

// A virtual function given to a pod; unlike the Device object's its minor 0 is not written.
struct AllocatedFunction {
  int64_t minor = 0;
  std::string busId;
  bool operator==(const AllocatedFunction&) const = default;
};
bool read(const In& in, AllocatedFunction& out);
json::Value toJson(const AllocatedFunction& value);

struct DeviceAllocation {
  struct Extension {
    std::vector<AllocatedFunction> vfs;
    std::string gpuSharedResourceTemplate;
    bool operator==(const Extension&) const = default;
  };
  int32_t minor = 0;
  ResourceList resources;
  std::string id;
  std::optional<Extension> extension;
  bool operator==(const DeviceAllocation&) const = default;
};
bool read(const In& in, DeviceAllocation::Extension& out);
json::Value toJson(const DeviceAllocation::Extension& value);
bool read(const In& in, DeviceAllocation& out);
json::Value toJson(const DeviceAllocation& value);

// By device type: gpu, rdma, …
using DeviceAllocations = std::map<std::string, std::vector<DeviceAllocation>>;
Result<std::optional<DeviceAllocations>> parseDeviceAllocations(const Annotations& pod);

struct DeviceHint {
  std::optional<LabelSelector> selector;
  std::optional<LabelSelector> vfSelector;
  std::string allocateStrategy;       // ApplyForAll, RequestsAsCount
  std::string requiredTopologyScope;  // Device, PCIe, NUMANode, Node
  std::string exclusivePolicy;        // DeviceLevel, PCIeLevel
  bool operator==(const DeviceHint&) const = default;
};
bool read(const In& in, DeviceHint& out);
json::Value toJson(const DeviceHint& value);
using DeviceHints = std::map<std::string, DeviceHint>;
Result<std::optional<DeviceHints>> parseDeviceHints(const Annotations& pod);
// Device 4, PCIe 3, NUMANode 2, Node 1; 0 for anything else. Larger is narrower.
int topologyScopeLevel(std::string_view scope);

struct DeviceJointAllocate {
  std::vector<std::string> deviceTypes;
  std::string requiredScope;  // SamePCIe
  bool operator==(const DeviceJointAllocate&) const = default;
};
bool read(const In& in, DeviceJointAllocate& out);
json::Value toJson(const DeviceJointAllocate& value);
Result<std::optional<DeviceJointAllocate>> parseDeviceJointAllocate(const Annotations& pod);

struct GpuPartitionSpec {
  std::string allocatePolicy;  // Restricted, BestEffort
  std::optional<Quantity> ringBusBandwidth;
  bool operator==(const GpuPartitionSpec&) const = default;
};
bool read(const In& in, GpuPartitionSpec& out);
json::Value toJson(const GpuPartitionSpec& value);
// An unset policy becomes BestEffort.
Result<std::optional<GpuPartitionSpec>> parseGpuPartitionSpec(const Annotations& pod);

struct GpuPartition {
  std::vector<int64_t> minors;
  std::string gpuLinkType;  // NVLink
  std::optional<Quantity> ringBusBandwidth;
  int64_t allocationScore = 0;
  bool operator==(const GpuPartition&) const = default;
};
bool read(const In& in, GpuPartition& out);
json::Value toJson(const GpuPartition& value);
// By number of GPUs. Written on the Device object; "" is absent, null an error.
struct GpuPartitionTable {
  std::map<int, std::vector<GpuPartition>> bySize;
  bool operator==(const GpuPartitionTable&) const = default;
};
bool read(const In& in, GpuPartitionTable& out);
json::Value toJson(const GpuPartitionTable& value);
Result<std::optional<GpuPartitionTable>> parseGpuPartitions(const Annotations& device);

// Label gpu-partition-policy: Honor, else Prefer.
bool honorsGpuPartitions(const Labels& nodeOrDevice);
// Label secondary-device-well-planned: "true" and "false" mean something, anything else says
// nothing.
std::optional<bool> secondaryDeviceWellPlanned(const Labels& device);
// Label gpu-isolation-provider names HAMi-core.
bool isolatesGpuByHami(const Labels& pod);

}  // namespace mangrove::api
