#include "api/annotations/cpu.h"

#include "api/wire/schema.h"

namespace mangrove::api {

static constexpr Schema kSpec{
    unlessUnset<&ResourceSpec::requiredCpuBindPolicy>("requiredCPUBindPolicy"),
    unlessUnset<&ResourceSpec::preferredCpuBindPolicy>("preferredCPUBindPolicy"),
    unlessUnset<&ResourceSpec::preferredCpuExclusivePolicy>("preferredCPUExclusivePolicy"),
};
bool read(const In& in, ResourceSpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const ResourceSpec& value) {
  return kSpec.write(value);
}
Result<std::optional<ResourceSpec>> parseResourceSpec(const Annotations& pod) {
  return parseAnnotation<ResourceSpec>(pod, annotation::kResourceSpec);
}

static constexpr Schema kNuma{
    unlessUnset<&NumaTopologySpec::numaTopologyPolicy>("numaTopologyPolicy"),
    unlessUnset<&NumaTopologySpec::singleNumaNodeExclusive>("singleNUMANodeExclusive"),
};
bool read(const In& in, NumaTopologySpec& out) {
  return kNuma.read(in, out);
}
json::Value toJson(const NumaTopologySpec& value) {
  return kNuma.write(value);
}
Result<std::optional<NumaTopologySpec>> parseNumaTopologySpec(const Annotations& pod) {
  return parseAnnotation<NumaTopologySpec>(pod, annotation::kNumaTopologySpec);
}

static constexpr Schema kNumaResource{
    always<&NumaNodeResource::node>("node"),
    unlessUnset<&NumaNodeResource::resources>("resources"),
};
bool read(const In& in, NumaNodeResource& out) {
  return kNumaResource.read(in, out);
}
json::Value toJson(const NumaNodeResource& value) {
  return kNumaResource.write(value);
}

static constexpr Schema kStatus{
    unlessUnset<&ResourceStatus::cpuset>("cpuset"),
    unlessUnset<&ResourceStatus::numaNodeResources>("numaNodeResources"),
};
bool read(const In& in, ResourceStatus& out) {
  return kStatus.read(in, out);
}
json::Value toJson(const ResourceStatus& value) {
  return kStatus.write(value);
}
Result<std::optional<ResourceStatus>> parseResourceStatus(const Annotations& pod) {
  return parseAnnotation<ResourceStatus>(pod, annotation::kResourceStatus);
}

}  // namespace mangrove::api
