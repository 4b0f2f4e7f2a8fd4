#pragma once
// Which CPUs best-effort work gets: whole cores first, spread over NUMA nodes, never a CPU of an
// exclusive pod. Pure functions, any thread.
//
//   std::vector<int> cpus = pickCpus(candidates, 5);        // in the order they are taken
//   CpuSet set = suppressCpus(in);                          // the whole decision

#include <cstdint>
#include <vector>

#include "agent/qos/cpu_suppress/hints.h"
#include "api/pod/classes.h"
#include "base/number/cpu_set.h"
#include "base/number/units.h"
#include "kernel/cpu_topology.h"

namespace mangrove::agent {

using Cpus = std::vector<kernel::LogicalCpu>;

// `count` of these CPUs: pairs of one core in turn over the NUMA nodes, then single ones. Empty
// when there are not that many.
std::vector<int> pickCpus(const Cpus& from, size_t count);
// Cores without a loud CPU first; of those as many from each NUMA node as it has of the memory, by
// highest averages, so that more CPUs are never others. Without hints as above.
std::vector<int> pickCpus(const Cpus& from, size_t count, const CpuHints& hints);

// How many CPUs a budget is worth: rounded up, at least two, and growing by a tenth of the machine
// at most; shrinking is instant.
size_t suppressCount(MilliCpu budget, size_t present, size_t processors);

// CPUs bound to one pod by the scheduler.
struct BoundCpus {
  api::Qos qos = api::Qos::kNone;
  CpuSet cpus;
};

struct SuppressCpus {
  Cpus machine;
  CpuSet present;  // what best-effort work has now
  std::vector<BoundCpus> bound;
  CpuSet reserved;  // of the node
  CpuSet system;    // of system pods, when exclusive
  MilliCpu budget;
  CpuHints hints = {};
};
// Empty only when no CPU may be used at all.
CpuSet suppressCpus(const SuppressCpus& in);

// Everything best-effort work may ever use here: all but system, reserved and LSE CPUs.
CpuSet recoverCpus(const SuppressCpus& in);

}  // namespace mangrove::agent
