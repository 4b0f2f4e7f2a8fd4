#pragma once
// What one calculation for one node looks at, and the sums that batch and mid resources share.
//
//   NodeInputs in{node, pods, &metric, topology.get(), strategy, clock.wall()};
//   BatchResult batch = batchResource(in);
//
// Pure; any thread. The inputs are borrowed.

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/node_metric.h"
#include "api/koordinator/node_resource_topology.h"
#include "api/koordinator/reservation.h"
#include "api/object/node.h"
#include "api/pod/classes.h"
#include "api/pod/pod.h"
#include "manager/config/strategies.h"
#include "manager/controllers/noderesource/cpu_memory.h"

namespace mangrove::manager {

// Names a pod within a node's sums: 64 bits of "namespace/name". Five thousand nodes' pods are kept
// by this instead of two strings each.
uint64_t podKey(std::string_view ns, std::string_view name);

// A pod that holds sold resources: how much, by the name it asked for it ([0] canonical, then
// aliasViews()), and what decides when and how it goes (timepolicy/leaving.h).
struct PodSold {
  std::array<CpuMemory, 4> amounts;
  int32_t priority = 0;
  WallTime started = kZeroTime;      // kZeroTime: not yet
  std::optional<Duration> expected;  // how long it says it runs
  Duration notice{};                 // so long before it wants to hear of its end
  WallTime drainAt = kZeroTime;      // what it has been told
  bool operator==(const PodSold&) const = default;
};

// A pod on a node as the formulas see it. Everything that costs something to find out is found out
// once per pod, not once per reconcile.
struct PodFacts {
  uint64_t key = 0;
  api::PriorityBand band = api::PriorityBand::kNone;  // with default
  api::Qos qos = api::Qos::kNone;                     // with default
  bool counts = false;                                // Running or Pending
  bool isRoom = false;                                // kept by a reservation: nobody uses it yet
  CpuMemory request;  // native cpu and memory; of Mid pods mid-cpu and mid-memory too
  std::shared_ptr<const PodSold> sold;  // null: it holds nothing
  std::vector<int32_t> numaNodes;       // where the scheduler pinned it

  // High priority: neither batch nor free.
  bool isHigh() const {
    return band != api::PriorityBand::kBatch && band != api::PriorityBand::kFree;
  }
  bool operator==(const PodFacts& other) const;
};
PodFacts podFacts(const api::Pod& pod);
// What an available reservation keeps on its node and nobody has entered: asked for, never used.
PodFacts roomFacts(const api::Reservation& reservation);

// A NodeMetric as the formulas see it.
struct PodUsage {
  uint64_t key = 0;
  api::PriorityBand band = api::PriorityBand::kNone;
  CpuMemory usage;
  bool operator==(const PodUsage&) const = default;
};
struct HostUsage {
  api::PriorityBand band = api::PriorityBand::kNone;
  CpuMemory usage;
  bool operator==(const HostUsage&) const = default;
};
struct MetricFacts {
  WallTime updateTime = kZeroTime;  // kZeroTime: never reported
  bool hasNodeMetric = false;
  bool hasNodeUsage = false;  // both cpu and memory are there
  CpuMemory nodeUsage;
  CpuMemory systemUsage;
  CpuMemory prodReclaimable;
  std::vector<PodUsage> pods;  // sorted by key
  std::vector<HostUsage> hosts;
  std::vector<CpuMemory> numaSystem;  // by NUMA node; empty unless reported for all, from 0 on
  bool operator==(const MetricFacts&) const = default;

  const PodUsage* find(uint64_t pod) const;
};
MetricFacts metricFacts(const api::NodeMetricStatus& status);

struct NodeInputs {
  const api::Node& node;
  std::span<const PodFacts* const> pods;
  const MetricFacts* metric = nullptr;                  // nullptr: there is none
  const api::NodeResourceTopology* topology = nullptr;  // nullptr: there is none
  const Colocation& strategy;
  WallTime now{};
};

// Why nothing may be sold: the metric is missing or too old; "" when it is fresh.
std::string degradedBecause(const NodeInputs& in);

// Taken away before anything is sold: what the kubelet keeps (capacity − allocatable, from the raw
// allocatable when amplified) or what the node's annotation reserves, whichever is larger.
struct Reservation {
  CpuMemory kubelet;
  CpuMemory annotated;
  std::string ignored;  // why the annotation was not used; "" when it was, or is absent

  CpuMemory amount() const { return maxOf(kubelet, annotated); }
};
Reservation reservationOf(const api::Node& node);

// Usage of host applications whose band's default value is above `above`.
CpuMemory hostUsageAbove(const MetricFacts& metric, int32_t above);

// percent of an amount, as the reference rounds: cpu in thousandths, memory in bytes.
CpuMemory percentOf(const CpuMemory& amount, Percent cpu, Percent memory);

}  // namespace mangrove::manager
