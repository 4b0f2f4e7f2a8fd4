#include "agent/collect/usage_rules.h"

#include <algorithm>
#include <numeric>

#include "api/wire/names.h"

namespace mangrove::agent {

CpuAndMemory systemUsage(const CpuAndMemory& node, const CpuAndMemory& pods,
                         const CpuAndMemory& hostApps) {
  return {std::max(0.0, node.cpu - pods.cpu - hostApps.cpu),
          std::max(Bytes{0}, node.memory - pods.memory - hostApps.memory)};
}

std::vector<double> numaSystemCpu(double systemCpu, std::span<const double> nodeCpu) {
  const double sum = std::accumulate(nodeCpu.begin(), nodeCpu.end(), 0.0);
  std::vector<double> out;
  for (double cpu : nodeCpu) out.push_back(sum > 0 ? systemCpu * cpu / sum : 0);
  return out;
}

MilliCpu bestEffortLimit(size_t smallestCpuset, kernel::CpuQuota quota, int64_t periodUs) {
  const MilliCpu byCpus{static_cast<int64_t>(smallestCpuset) * 1000};
  if (quota.isNone() || periodUs <= 0) return byCpus;
  return std::min(byCpus, (MilliCpu{quota.us()} * 1000) / periodUs);
}

MilliCpu bestEffortUsage(Duration counterBefore, Duration counterNow, Duration elapsed) {
  using std::chrono::milliseconds;
  const int64_t usedMs =
      std::chrono::duration_cast<milliseconds>(counterNow - counterBefore).count();
  const int64_t elapsedMs = std::chrono::duration_cast<milliseconds>(elapsed).count();
  if (elapsedMs <= 0 || usedMs < 0) return {};
  return (MilliCpu{usedMs} * 1000) / elapsedMs;
}

MilliCpu batchRequest(const api::Pod& pod) {
  MilliCpu sum;
  const auto add = [&](const api::Container& container) {
    sum += MilliCpu{container.requests.amount(api::resource::kBatchCpu).value()};
  };
  for (const api::Container& container : pod.spec->containers) add(container);
  for (const api::Container& container : pod.spec->initContainers)
    if (container.isSidecar) add(container);
  return sum;
}

bool isProcessOf(std::string_view procCgroup, std::string_view cgroup) {
  const std::string_view name = cgroup.substr(cgroup.rfind('/') + 1);
  if (name.empty()) return false;
  for (size_t at = procCgroup.find(name); at != std::string_view::npos;
       at = procCgroup.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool begins = at > 0 && procCgroup[at - 1] == '/';
    if (begins && (end == procCgroup.size() || procCgroup[end] == '/' || procCgroup[end] == '\n'))
      return true;
  }
  return false;
}

}  // namespace mangrove::agent
