#include "api/annotations/device.h"

#include "api/wire/schema.h"
#include "base/text/strings.h"

namespace mangrove::api {

static constexpr Schema kFunction{
    unlessUnset<&AllocatedFunction::minor>("minor"),
    unlessUnset<&AllocatedFunction::busId>("busID"),
};
bool read(const In& in, AllocatedFunction& out) {
  return kFunction.read(in, out);
}
json::Value toJson(const AllocatedFunction& value) {
  return kFunction.write(value);
}

using Extension = DeviceAllocation::Extension;
static constexpr Schema kExtension{
    unlessUnset<&Extension::vfs>("vfs"),
    unlessUnset<&Extension::gpuSharedResourceTemplate>("gpuSharedResourceTemplate"),
};
bool read(const In& in, DeviceAllocation::Extension& out) {
  return kExtension.read(in, out);
}
json::Value toJson(const DeviceAllocation::Extension& value) {
  return kExtension.write(value);
}

static constexpr Schema kAllocation{
    always<&DeviceAllocation::minor>("minor"),
    always<&DeviceAllocation::resources>("resources"),
    unlessUnset<&DeviceAllocation::id>("id"),
    unlessUnset<&DeviceAllocation::extension>("extension"),
};
bool read(const In& in, DeviceAllocation& out) {
  return kAllocation.read(in, out);
}
json::Value toJson(const DeviceAllocation& value) {
  return kAllocation.write(value);
}
Result<std::optional<DeviceAllocations>> parseDeviceAllocations(const Annotations& pod) {
  return parseAnnotation<DeviceAllocations>(pod, annotation::kDeviceAllocated);
}

static constexpr Schema kHint{
    unlessUnset<&DeviceHint::selector>("selector"),
    unlessUnset<&DeviceHint::vfSelector>("vfSelector"),
    unlessUnset<&DeviceHint::allocateStrategy>("allocateStrategy"),
    unlessUnset<&DeviceHint::requiredTopologyScope>("requiredTopologyScope"),
    unlessUnset<&DeviceHint::exclusivePolicy>("exclusivePolicy"),
};
bool read(const In& in, DeviceHint& out) {
  return kHint.read(in, out);
}
json::Value toJson(const DeviceHint& value) {
  return kHint.write(value);
}
Result<std::optional<DeviceHints>> parseDeviceHints(const Annotations& pod) {
  return parseAnnotation<DeviceHints>(pod, annotation::kDeviceAllocateHint);
}

int topologyScopeLevel(std::string_view scope) {
  constexpr std::string_view kScopes[] = {"Node", "NUMANode", "PCIe", "Device"};
  for (int i = 0; i < 4; ++i)
    if (kScopes[i] == scope) return i + 1;
  return 0;
}

static constexpr Schema kJoint{
    unlessUnset<&DeviceJointAllocate::deviceTypes>("deviceTypes"),
    unlessUnset<&DeviceJointAllocate::requiredScope>("requiredScope"),
};
bool read(const In& in, DeviceJointAllocate& out) {
  return kJoint.read(in, out);
}
json::Value toJson(const DeviceJointAllocate& value) {
  return kJoint.write(value);
}
Result<std::optional<DeviceJointAllocate>> parseDeviceJointAllocate(const Annotations& pod) {
  return parseAnnotation<DeviceJointAllocate>(pod, annotation::kDeviceJointAllocate);
}

static constexpr Schema kPartitionSpec{
    unlessUnset<&GpuPartitionSpec::allocatePolicy>("allocatePolicy"),
    unlessUnset<&GpuPartitionSpec::ringBusBandwidth>("ringBusBandwidth"),
};
bool read(const In& in, GpuPartitionSpec& out) {
  return kPartitionSpec.read(in, out);
}
json::Value toJson(const GpuPartitionSpec& value) {
  return kPartitionSpec.write(value);
}
Result<std::optional<GpuPartitionSpec>> parseGpuPartitionSpec(const Annotations& pod) {
  auto spec = parseAnnotation<GpuPartitionSpec>(pod, annotation::kGpuPartitionSpec);
  if (spec && *spec && (*spec)->allocatePolicy.empty()) (*spec)->allocatePolicy = "BestEffort";
  return spec;
}

static constexpr Schema kPartition{
    always<&GpuPartition::minors>("minors"),
    unlessUnset<&GpuPartition::gpuLinkType>("gpuLinkType"),
    unlessUnset<&GpuPartition::ringBusBandwidth>("ringBusBandwidth"),
    unlessUnset<&GpuPartition::allocationScore>("allocationScore"),
};
bool read(const In& in, GpuPartition& out) {
  return kPartition.read(in, out);
}
json::Value toJson(const GpuPartition& value) {
  return kPartition.write(value);
}

bool read(const In& in, GpuPartitionTable& out) {
  if (!in.view.isObject()) return in.wants("an object");
  for (auto [key, value] : in.view.members()) {
    const In member = in.member(key, value);
    const auto size = parseInt<int>(key);
    if (!size) return member.refuse("the key is no number of GPUs");
    if (!value.isNull() && !read(member, out.bySize[*size])) return false;
  }
  return true;
}
json::Value toJson(const GpuPartitionTable& value) {
  std::map<std::string, std::vector<GpuPartition>> byText;
  for (const auto& [size, partitions] : value.bySize) byText[std::to_string(size)] = partitions;
  return toJson(byText);
}
Result<std::optional<GpuPartitionTable>> parseGpuPartitions(const Annotations& device) {
  const auto text = device.get(annotation::kGpuPartitions);
  if (text && trim(*text) == "null")
    return invalid("annotation {}: null, want an object of partitions by number of GPUs",
                   annotation::kGpuPartitions);
  return parseAnnotation<GpuPartitionTable>(device, annotation::kGpuPartitions, WhenEmpty::kAbsent);
}

bool honorsGpuPartitions(const Labels& nodeOrDevice) {
  return nodeOrDevice.get(label::kGpuPartitionPolicy) == "Honor";
}

std::optional<bool> secondaryDeviceWellPlanned(const Labels& device) {
  const auto text = device.get(label::kSecondaryDeviceWellPlanned);
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

bool isolatesGpuByHami(const Labels& pod) {
  return pod.get(label::kGpuIsolationProvider) == object::kHamiCore;
}

}  // namespace mangrove::api
