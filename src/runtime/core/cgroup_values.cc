#include "runtime/core/cgroup_values.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/pod/pod_requests.h"
#include "api/wire/names.h"

namespace mangrove::runtime {

int64_t sharesOf(MilliCpu request) {
  if (request.v <= 0) return kLeastShares;
  return std::clamp(request.v * 1024 / 1000, kLeastShares, kMostShares);
}

std::optional<int64_t> quotaOf(MilliCpu limit) {
  if (limit.v <= 0) return std::nullopt;
  return std::max(limit.v * kCpuPeriodUs / 1000, kLeastQuotaUs);
}

int64_t weightOf(int64_t shares) {
  return 1 + (std::clamp(shares, kLeastShares, kMostShares) - 2) * 9999 / 262142;
}

CgroupValues containerValues(const api::Container& container) {
  CgroupValues values;
  const bool requested = container.requests.has(api::resource::kCpu);
  values.shares = sharesOf(requested ? container.requests.cpu() : container.limits.cpu());
  values.quotaUs = quotaOf(container.limits.cpu());
  if (container.limits.memory().v > 0) values.memory = container.limits.memory();
  return values;
}

namespace {

bool allLimit(const api::PodSpec& spec, std::string_view resource) {
  auto limited = [&](const api::Container& c) { return c.limits.has(resource); };
  auto sidecarLimited = [&](const api::Container& c) { return !c.isSidecar || limited(c); };
  return std::all_of(spec.containers.begin(), spec.containers.end(), limited) &&
         std::all_of(spec.initContainers.begin(), spec.initContainers.end(), sidecarLimited);
}

struct QosTally {
  bool any = false;
  bool guaranteed = true;
};

void tally(const api::Container& container, QosTally& out) {
  for (std::string_view name : {api::resource::kCpu, api::resource::kMemory}) {
    const Quantity request = container.requests.amount(name), limit = container.limits.amount(name);
    const Quantity none;
    if (request > none || limit > none) out.any = true;
    if (!(limit > none) || (container.requests.has(name) && !(request == limit)))
      out.guaranteed = false;
  }
}

}  // namespace

CgroupValues podValues(const api::PodSpec& spec) {
  CgroupValues values;
  const api::ResourceList requests = api::podRequests(spec), limits = api::podLimits(spec);
  values.shares = sharesOf(requests.cpu());
  if (allLimit(spec, api::resource::kCpu)) values.quotaUs = quotaOf(limits.cpu());
  if (allLimit(spec, api::resource::kMemory) && limits.memory().v > 0)
    values.memory = limits.memory();
  return values;
}

int64_t tierShares(MilliCpu sumOfRequests) {
  return sharesOf(sumOfRequests);
}

api::KubeQos qosOf(const api::PodSpec& spec) {
  QosTally all;
  for (const auto& container : spec.containers) tally(container, all);
  for (const auto& container : spec.initContainers) tally(container, all);
  if (!all.any) return api::KubeQos::kBestEffort;
  return all.guaranteed ? api::KubeQos::kGuaranteed : api::KubeQos::kBurstable;
}

int oomScoreAdj(const api::PodSpec& spec, const api::Container& container, Bytes machine) {
  constexpr int64_t kGuaranteed = -997, kBestEffort = 1000;
  const api::KubeQos qos = qosOf(spec);
  if (qos == api::KubeQos::kGuaranteed) return kGuaranteed;
  if (qos == api::KubeQos::kBestEffort || machine.v <= 0) return kBestEffort;
  const int64_t asked = container.requests.memory().v;
  const int64_t score = 1000 - static_cast<int64_t>(1000.0 * static_cast<double>(asked) /
                                                    static_cast<double>(machine.v));
  if (score < 1000 + kGuaranteed) return static_cast<int>(1000 + kGuaranteed);
  return static_cast<int>(std::min<int64_t>(score, kBestEffort - 1));
}

std::vector<ControlWrite> controlWrites(const CgroupValues& v, bool v2) {
  std::vector<ControlWrite> out;
  if (v2) {
    out.push_back({"", "cpu.weight", std::to_string(weightOf(v.shares))});
    if (v.quotaUs) out.push_back({"", "cpu.max", fmt::format("{} {}", *v.quotaUs, kCpuPeriodUs)});
    if (v.memory) out.push_back({"", "memory.max", std::to_string(v.memory->v)});
    if (v.pids) out.push_back({"", "pids.max", std::to_string(*v.pids), true});
    return out;
  }
  out.push_back({"cpu", "cpu.shares", std::to_string(v.shares)});
  if (v.quotaUs) {
    out.push_back({"cpu", "cpu.cfs_period_us", std::to_string(kCpuPeriodUs)});
    out.push_back({"cpu", "cpu.cfs_quota_us", std::to_string(*v.quotaUs)});
  }
  if (v.memory) out.push_back({"memory", "memory.limit_in_bytes", std::to_string(v.memory->v)});
  if (v.pids) out.push_back({"pids", "pids.max", std::to_string(*v.pids), true});
  return out;
}

std::vector<ControlWrite> resizeWrites(const CgroupValues& v, bool v2) {
  std::vector<ControlWrite> out = controlWrites(v, v2);
  if (!v.quotaUs)
    out.push_back(v2 ? ControlWrite{"", "cpu.max", fmt::format("max {}", kCpuPeriodUs)}
                     : ControlWrite{"cpu", "cpu.cfs_quota_us", "-1"});
  if (!v.memory)
    out.push_back(v2 ? ControlWrite{"", "memory.max", "max"}
                     : ControlWrite{"memory", "memory.limit_in_bytes", "-1"});
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
