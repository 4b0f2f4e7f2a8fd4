#include "runtime/core/cgroup_values.h"

#include <algorithm>

#include "api/pod/classes.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"
#include "kernel/control_files.h"
#include "kernel/resource_names.h"

namespace mangrove::runtime {

CgroupValues containerValues(const api::Container& container) {
  CgroupValues values;
  const bool requested = container.requests.has(api::resource::kCpu);
  values.shares = kernel::sharesOf(requested ? container.requests.cpu() : container.limits.cpu());
  values.quota = kernel::quotaOf(container.limits.cpu());
  if (container.limits.memory().v > 0) values.memory = container.limits.memory();
  return values;
}

namespace {

bool isLimited(const api::PodSpec& spec, std::string_view resource) {
  if (spec.hasPodResources && spec.podLimits.has(resource)) return true;
  auto limited = [&](const api::Container& c) { return c.limits.has(resource); };
  auto sidecarLimited = [&](const api::Container& c) { return !c.isSidecar || limited(c); };
  return std::all_of(spec.containers.begin(), spec.containers.end(), limited) &&
         std::all_of(spec.initContainers.begin(), spec.initContainers.end(), sidecarLimited);
}

}  // namespace

CgroupValues podValues(const api::PodSpec& spec) {
  CgroupValues values;
  const api::ResourceList requests = api::podRequests(spec), limits = api::podLimits(spec);
  values.shares = kernel::sharesOf(requests.cpu());
  if (isLimited(spec, api::resource::kCpu)) values.quota = kernel::quotaOf(limits.cpu());
  if (isLimited(spec, api::resource::kMemory) && limits.memory().v > 0)
    values.memory = limits.memory();
  return values;
}

int oomScoreAdj(const api::PodSpec& spec, const api::Container& container, Bytes machine) {
  constexpr int64_t kGuaranteed = -997, kBestEffort = 1000;
  const api::KubeQos qos = api::computeKubeQos(spec);
  if (qos == api::KubeQos::kGuaranteed) return kGuaranteed;
  if (qos == api::KubeQos::kBestEffort || machine.v <= 0) return kBestEffort;
  const int64_t asked = container.requests.memory().v;
  const int64_t score = 1000 - static_cast<int64_t>(1000.0 * static_cast<double>(asked) /
                                                    static_cast<double>(machine.v));
  if (score < 1000 + kGuaranteed) return static_cast<int>(1000 + kGuaranteed);
  return static_cast<int>(std::min<int64_t>(score, kBestEffort - 1));
}

namespace {

namespace name = kernel::resource_name;
using kernel::CgroupVersion;

ControlWrite writeOf(std::string_view resource, std::string value, CgroupVersion version) {
  const kernel::ControlResource& control = *kernel::findResource(resource);
  const bool v1 = version == CgroupVersion::kV1;
  return {v1 ? std::string(kernel::controllerName(control.controller)) : "",
          std::string(control.fileOf(version).name), std::move(value)};
}

// Version 2 has quota and period in one file.
void putQuota(kernel::CpuQuota quota, CgroupVersion version, std::vector<ControlWrite>& out) {
  if (version == CgroupVersion::kV2) {
    out.push_back(writeOf(name::kCpuQuota, quota.withPeriod(), version));
    return;
  }
  if (!quota.isNone())
    out.push_back(writeOf(name::kCpuPeriod, std::to_string(kernel::kCfsPeriodUs), version));
  out.push_back(writeOf(name::kCpuQuota, quota.text(version), version));
}

}  // namespace

std::vector<ControlWrite> controlWrites(const CgroupValues& v, CgroupVersion version) {
  std::vector<ControlWrite> out;
  out.push_back(writeOf(name::kCpuShares, kernel::sharesText(v.shares, version), version));
  if (!v.quota.isNone()) putQuota(v.quota, version, out);
  if (v.memory) out.push_back(writeOf(name::kMemoryLimit, std::to_string(v.memory->v), version));
  if (v.pids) {
    out.push_back(writeOf(name::kPidsMax, std::to_string(*v.pids), version));
    out.back().optional = true;
  }
  return out;
}

std::vector<ControlWrite> resizeWrites(const CgroupValues& v, CgroupVersion version) {
  std::vector<ControlWrite> out = controlWrites(v, version);
  if (v.quota.isNone()) putQuota(v.quota, version, out);
  if (!v.memory)
    out.push_back(writeOf(name::kMemoryLimit, kernel::CpuQuota::none().text(version), version));
  return out;
}

int64_t podPidsLimit(int64_t machine) {
  return std::clamp<int64_t>(machine / 8, 1024, 16'384);
}

Bytes reservedMemory(Bytes machine) {
  const Bytes usual = std::clamp(Bytes{machine.v / 20}, kMiB * 64, kMiB * 512);
  return std::min(usual, Bytes{machine.v / 2});
}

}  // namespace mangrove::runtime
