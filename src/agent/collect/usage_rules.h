#pragma once
// The formulas of collection: what the machine used besides pods, what best-effort work may use.
//
// Pure functions; units are in the types. Table tests beside.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/pod/pod.h"
#include "base/number/cpu_set.h"
#include "base/number/units.h"
#include "kernel/cpu_quota.h"

namespace mangrove::agent {

struct CpuAndMemory {
  double cpu = 0;  // cores
  Bytes memory;
  bool operator==(const CpuAndMemory&) const = default;
};
// Node less pods less host applications, never below 0. E.g. 1.0 - 0.5 - 0.1 = 0.4 cores.
CpuAndMemory systemUsage(const CpuAndMemory& node, const CpuAndMemory& pods,
                         const CpuAndMemory& hostApps);
// The system's CPU shared out to NUMA nodes as their whole CPU is; 0 each when nothing runs.
std::vector<double> numaSystemCpu(double systemCpu, std::span<const double> nodeCpu);

// min(1000 × CPUs of the smallest set, quota × 1000 / period).
MilliCpu bestEffortLimit(size_t smallestCpuset, kernel::CpuQuota quota, int64_t periodUs);
// Whole milli-cores between two counters. E.g. 4 s of CPU in 1 s of time: 4000.
MilliCpu bestEffortUsage(Duration counterBefore, Duration counterNow, Duration elapsed);
// Batch-CPU requests of containers and sidecars of one pod, in milli-cores.
MilliCpu batchRequest(const api::Pod& pod);

// Whether the text of /proc/PID/cgroup says that the process is in this cgroup or below it. Only
// the cgroup's own name is looked for: in a container the paths before it may be other ones.
bool isProcessOf(std::string_view procCgroup, std::string_view cgroup);

}  // namespace mangrove::agent
