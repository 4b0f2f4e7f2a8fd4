#include "api/koordinator/device.h"

#include "api/wire/schema.h"

namespace mangrove::api {

static constexpr Schema kVirtualFunction{
    always<&VirtualFunction::minor>("minor"),
    unlessUnset<&VirtualFunction::busId>("busID"),
};
bool read(const In& in, VirtualFunction& out) {
  return kVirtualFunction.read(in, out);
}
json::Value toJson(const VirtualFunction& value) {
  return kVirtualFunction.write(value);
}

static constexpr Schema kVirtualFunctionGroup{
    unlessUnset<&VirtualFunctionGroup::labels>("labels"),
    unlessUnset<&VirtualFunctionGroup::vfs>("vfs"),
};
bool read(const In& in, VirtualFunctionGroup& out) {
  return kVirtualFunctionGroup.read(in, out);
}
json::Value toJson(const VirtualFunctionGroup& value) {
  return kVirtualFunctionGroup.write(value);
}

static constexpr Schema kTopology{
    always<&DeviceTopology::socketId>("socketID"),
    always<&DeviceTopology::nodeId>("nodeID"),
    always<&DeviceTopology::pcieId>("pcieID"),
    unlessUnset<&DeviceTopology::busId>("busID"),
};
bool read(const In& in, DeviceTopology& out) {
  return kTopology.read(in, out);
}
json::Value toJson(const DeviceTopology& value) {
  return kTopology.write(value);
}

static constexpr Schema kInfo{
    unlessUnset<&DeviceInfo::type>("type"),
    unlessUnset<&DeviceInfo::labels>("labels"),
    unlessUnset<&DeviceInfo::id>("id"),
    unlessUnset<&DeviceInfo::minor>("minor"),
    unlessUnset<&DeviceInfo::moduleId>("moduleID"),
    always<&DeviceInfo::health>("health"),
    unlessUnset<&DeviceInfo::resources>("resources"),
    unlessUnset<&DeviceInfo::topology>("topology"),
    unlessUnset<&DeviceInfo::vfGroups>("vfGroups"),
    unlessUnset<&DeviceInfo::conditions>("conditions"),
};
bool read(const In& in, DeviceInfo& out) {
  return kInfo.read(in, out);
}
json::Value toJson(const DeviceInfo& value) {
  return kInfo.write(value);
}

using Entry = DeviceUsers::Entry;
static constexpr Schema kEntry{
    unlessUnset<&Entry::name>("name"),
    unlessUnset<&Entry::ns>("namespace"),
    unlessUnset<&Entry::uuid>("uuid"),
    unlessUnset<&Entry::minors>("minors"),
};
bool read(const In& in, DeviceUsers::Entry& out) {
  return kEntry.read(in, out);
}
json::Value toJson(const DeviceUsers::Entry& value) {
  return kEntry.write(value);
}

static constexpr Schema kUsers{
    unlessUnset<&DeviceUsers::type>("type"),
    unlessUnset<&DeviceUsers::entries>("entries"),
};
bool read(const In& in, DeviceUsers& out) {
  return kUsers.read(in, out);
}
json::Value toJson(const DeviceUsers& value) {
  return kUsers.write(value);
}

static constexpr Schema kSpec{unlessUnset<&DeviceSpec::devices>("devices")};
bool read(const In& in, DeviceSpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const DeviceSpec& value) {
  return kSpec.write(value);
}

static constexpr Schema kStatus{unlessUnset<&DeviceStatus::allocations>("allocations")};
bool read(const In& in, DeviceStatus& out) {
  return kStatus.read(in, out);
}
json::Value toJson(const DeviceStatus& value) {
  return kStatus.write(value);
}

bool read(const In& in, Device& out) {
  static constexpr Fields fields{
      field<&Device::meta>("metadata"),
      field<&Device::spec>("spec"),
      field<&Device::status>("status"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
