#pragma once
// The machine's CPUs: which threads share a core, which cores a socket, a NUMA node, a cache. Read
// from sysfs, without running lscpu. Numbers of cores and sockets are counted through the machine
// in the order of their first CPU, as lscpu does (sysfs repeats core ids per socket).
//
//   Result<CpuTopology> cpus = readCpuTopology(root, mounts);
//   cpus->cpus[3].core, cpus->numaNodes(), cpus->siblingsOf(3)
//
// Values; const access from any thread. Offline CPUs are left out.

#include <optional>
#include <string>
#include <vector>

#include "base/number/cpu_set.h"
#include "base/result.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::kernel {

struct LogicalCpu {
  int id = 0;
  int core = 0;    // through the whole machine
  int socket = 0;  // through the whole machine
  int node = 0;    // NUMA
  int l2 = 0;      // smallest CPU that shares the cache
  int l3 = 0;      // the kernel's id of the cache; 0 where there is none
  bool operator==(const LogicalCpu&) const = default;
};

struct CpuTopology {
  std::vector<LogicalCpu> cpus;  // sorted by id, online only
  CpuSet online;
  int possible = 0;   // how many CPUs this machine can ever have
  int placeless = 0;  // online ones that do not say where they are; not among `cpus`

  const LogicalCpu* find(int cpu) const;
  CpuSet siblingsOf(int cpu) const;  // threads of the same core, itself included
  CpuSet cpusOfNode(int node) const;
  std::vector<int> numaNodes() const;  // ascending, those with CPUs
  size_t coreCount() const;
  size_t socketCount() const;
  bool operator==(const CpuTopology&) const = default;
};

// A CPU without a core or socket number is dropped; none left is an error.
Result<CpuTopology> readCpuTopology(const SysRoot& root, const Mounts& mounts);

struct CpuBasics {
  std::string model;
  std::string vendor;
  bool smt = false;
  bool turbo = false;
  std::string l3Mask;  // resctrl's cbm_mask; "" without resctrl
  bool operator==(const CpuBasics&) const = default;
};
// Whatever cannot be read stays empty.
CpuBasics readCpuBasics(const SysRoot& root, const Mounts& mounts, const CpuTopology& topology);

}  // namespace mangrove::kernel
