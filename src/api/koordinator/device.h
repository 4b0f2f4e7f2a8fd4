#pragma once
// Device (scheduling.koordinator.sh): the accelerators of one node. Named like the node; no status
// subresource. DeviceInfo also describes device usage in NodeMetric.

#include <optional>
#include <string>
#include <vector>

#include "api/object/condition.h"
#include "api/object/meta.h"
#include "api/pod/resource_list.h"
#include "api/select/labels.h"
#include "json/fwd.h"

namespace mangrove::api {

struct VirtualFunction {
  int32_t minor = 0;
  std::string busId;
  bool operator==(const VirtualFunction&) const = default;
};
bool read(const In& in, VirtualFunction& out);
json::Value toJson(const VirtualFunction& value);

struct VirtualFunctionGroup {
  Labels labels;
  std::vector<VirtualFunction> vfs;
  bool operator==(const VirtualFunctionGroup&) const = default;
};
bool read(const In& in, VirtualFunctionGroup& out);
json::Value toJson(const VirtualFunctionGroup& value);

struct DeviceTopology {
  int32_t socketId = 0;
  int32_t nodeId = 0;
  std::string pcieId;
  std::string busId;
  bool operator==(const DeviceTopology&) const = default;
};
bool read(const In& in, DeviceTopology& out);
json::Value toJson(const DeviceTopology& value);

struct DeviceInfo {
  Interned type;  // gpu, fpga, rdma, …
  Labels labels;
  std::string id;  // UUID
  std::optional<int32_t> minor;
  std::optional<int32_t> moduleId;
  bool health = false;
  ResourceList resources;
  std::optional<DeviceTopology> topology;
  std::vector<VirtualFunctionGroup> vfGroups;
  std::vector<Condition> conditions;
  bool operator==(const DeviceInfo&) const = default;
};
bool read(const In& in, DeviceInfo& out);
json::Value toJson(const DeviceInfo& value);

// Who has which devices of a type.
struct DeviceUsers {
  struct Entry {
    std::string name;
    std::string ns;
    std::string uuid;
    std::vector<int32_t> minors;
    bool operator==(const Entry&) const = default;
  };
  std::string type;
  std::vector<Entry> entries;
  bool operator==(const DeviceUsers&) const = default;
};
bool read(const In& in, DeviceUsers::Entry& out);
json::Value toJson(const DeviceUsers::Entry& value);
bool read(const In& in, DeviceUsers& out);
json::Value toJson(const DeviceUsers& value);

struct DeviceSpec {
  std::vector<DeviceInfo> devices;
  bool operator==(const DeviceSpec&) const = default;
};
bool read(const In& in, DeviceSpec& out);
json::Value toJson(const DeviceSpec& value);

struct DeviceStatus {
  std::vector<DeviceUsers> allocations;
  bool operator==(const DeviceStatus&) const = default;
};
bool read(const In& in, DeviceStatus& out);
json::Value toJson(const DeviceStatus& value);

struct Device {
  ObjectMeta meta;
  DeviceSpec spec;
  DeviceStatus status;
};
bool read(const In& in, Device& out);

}  // namespace mangrove::api
