#pragma once
// What speaks for and against single CPUs when best-effort work gets some: the NUMA nodes where its
// memory is, and cores that are busy with interrupts of others. Pure functions, any thread.
//
//   CpuHints hints;
//   hints.memory = steadyShares(hints.memory, memoryShares(stat));
//   hints.loud = loudCpus(hints.loud, interruptShares(before, now), present);
//   pickCpus(candidates, 5, hints)                       // pick.h
//
// Both have a dead band: small changes move nobody.

#include <map>

#include "base/number/cpu_set.h"
#include "kernel/cgroup_stat.h"
#include "kernel/proc_stat.h"

namespace mangrove::agent {

// Of one, by NUMA node; empty: no node is preferred.
using NodeShares = std::map<int, double>;

struct CpuHints {
  NodeShares memory;
  CpuSet loud;
  bool empty() const { return memory.empty() && loud.empty(); }
  bool operator==(const CpuHints&) const = default;
};

// Where a group's memory is. Empty where it has none, or about as much on every node.
NodeShares memoryShares(const kernel::NumaStat& stat);
// What was known stays unless a node's share moved by more than a fifth of the whole.
NodeShares steadyShares(const NodeShares& before, const NodeShares& now);

// Of one, by CPU, between two readings.
std::map<int, double> interruptShares(const std::map<int, kernel::InterruptTicks>& before,
                                      const std::map<int, kernel::InterruptTicks>& now);
// CPUs that serve interrupts a tenth of the time; below a twentieth they no longer count. Where
// best-effort work runs, interrupts may be its own: such a CPU is what it was before.
CpuSet loudCpus(const CpuSet& before, const std::map<int, double>& shares, const CpuSet& present);

}  // namespace mangrove::agent
