#pragma once
// What a pod's and a container's cgroups are given at their birth, from requests and limits, as a
// kubelet computes it. Pure.
//
//   CgroupValues v = containerValues(container);
//   // worked: request 250m, limit 500m, memory limit 1Gi → shares 256, quota 50 000 of 100 000 µs,
//   // memory 1 073 741 824

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/pod/pod.h"
#include "api/pod/pod_spec.h"
#include "base/number/units.h"
#include "kernel/cpu_units.h"

namespace mangrove::runtime {

struct CgroupValues {
  int64_t shares = kernel::kMinShares;
  kernel::CpuQuota quota = kernel::CpuQuota::none();
  std::optional<Bytes> memory;  // nullopt: no limit
  std::optional<int64_t> pids;  // processes and threads; nullopt: no limit
  bool operator==(const CgroupValues&) const = default;
};

// Requests that are missing count as the limits, as the API server has defaulted them already.
CgroupValues containerValues(const api::Container& container);
// What the pod as a whole states, else sums over the containers; a limit only when the pod or every
// container has one.
CgroupValues podValues(const api::PodSpec& spec);
// What the kernel kills first: 1000 for best effort, −997 for guaranteed, in between by the share
// of the machine's memory that was asked for.
int oomScoreAdj(const api::PodSpec& spec, const api::Container& container, Bytes machine);

// One value in one file.
struct ControlWrite {
  std::string controller;  // v1: the hierarchy; v2: ""
  std::string file;
  std::string value;
  bool optional = false;  // a machine without that controller does without
  bool operator==(const ControlWrite&) const = default;
};
std::vector<ControlWrite> controlWrites(const CgroupValues& values, kernel::CgroupVersion version);
// The same for a cgroup that had other values before: what has no limit now is said too.
std::vector<ControlWrite> resizeWrites(const CgroupValues& values, kernel::CgroupVersion version);

// How many processes a pod may have on a machine with so many process numbers: enough for any
// service, too few to take the machine's. An eighth, at least 1024, at most 16 384.
int64_t podPidsLimit(int64_t machine);
// What of the machine's memory is not for pods, so that a machine full of them can still be
// managed: a twentieth, at least 64 MiB, at most 512 MiB.
Bytes reservedMemory(Bytes machine);

}  // namespace mangrove::runtime
