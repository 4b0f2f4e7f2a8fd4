#pragma once
// The CPUs that services share, NUMA node by NUMA node: a container is judged by the nodes it may
// run on, so that a busy node does not hold back services of an idle one; and when a pool is
// overloaded, who gives back first. Pure functions, any thread.
//
//   std::vector<NumaPool> pools = numaPools(cpus, usedByNode, pods);
//   poolStateOf(pools, nodesOf(cpus, container), 50)       // idle, cooling, overload
//   inShrinkOrder(members)                                 // services that state a need come last

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "agent/qos/cpu_burst/burst.h"
#include "base/number/cpu_set.h"
#include "kernel/cpu_topology.h"

namespace mangrove::agent {

using NodeMask = uint64_t;  // bit n: NUMA node n; nodes above 63 do not exist

struct NumaPool {
  int node = 0;
  double total = 0;            // CPUs less those that pods have to themselves
  std::optional<double> used;  // cores, without those pods and batch work; nullopt: not measured
};

// A pod, and the CPUs it runs on; none: anywhere.
struct PoolUser {
  const api::Pod* pod = nullptr;
  std::optional<double> usedCores;
  CpuSet cpus = {};
};

// What a pod has to itself or uses outside of the pool is taken off the nodes it runs on, by how
// many of its CPUs each has. All nodes together give what sharePoolState() gives.
std::vector<NumaPool> numaPools(std::span<const kernel::LogicalCpu> cpus,
                                const std::map<int, double>& usedByNode,
                                std::span<const PoolUser> pods);
// The nodes of these CPUs; of none: all nodes.
NodeMask nodesOf(std::span<const kernel::LogicalCpu> cpus, const CpuSet& set);
// Of these nodes together; unknown when one of them was not measured.
PoolState poolStateOf(std::span<const NumaPool> pools, NodeMask nodes, int64_t thresholdPercent);

// Who gives back first when a pool is overloaded: pods without a class, then LS, last LS pods that
// say themselves what they need (koordinator.sh/cpuBurst); the lower priority first.
struct ShrinkOrder {
  int rank = 0;
  int64_t priority = 0;
  auto operator<=>(const ShrinkOrder&) const = default;
};
ShrinkOrder shrinkOrder(const api::Pod& pod);

struct PoolMember {
  ShrinkOrder order;
  NodeMask nodes = 0;
  PoolState state = PoolState::kUnknown;
  bool boosted = false;  // above its base
};
// Each member's state; overload becomes cooling (nothing moves) while somebody who comes earlier is
// boosted on one of its nodes.
std::vector<PoolState> inShrinkOrder(std::span<const PoolMember> members);

}  // namespace mangrove::agent
