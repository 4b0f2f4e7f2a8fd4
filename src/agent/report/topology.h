#pragma once
// What the NodeResourceTopology of this node should say: the CPUs and who may use which of them,
// the kubelet's CPU policy, and the NUMA zones with what each has.
//
//   Result<DesiredTopology> want = desiredTopology({machine.cpus(), …});
//
// Pure, any thread. An error means "leave the object as it is this time".

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/collect/pod_book.h"
#include "api/annotations/node.h"
#include "api/annotations/topology.h"
#include "api/koordinator/node_resource_topology.h"
#include "api/object/node.h"
#include "base/number/cpu_set.h"
#include "kernel/cpu_topology.h"
#include "kernel/numa.h"

namespace mangrove::agent {

// Of the kubelet's configuration, what matters to placement.
struct KubeletConfig {
  std::string cpuManagerPolicy;
  std::map<std::string, std::string> cpuManagerOptions;
  std::string reservedSystemCpus;
  MilliCpu kubeReserved, systemReserved;
  std::string topologyManagerPolicy, topologyManagerScope;
  bool operator==(const KubeletConfig&) const = default;
};
// The body of /configz.
Result<KubeletConfig> parseKubeletConfig(std::string_view configz);

struct ZoneMemory {
  int node = 0;
  Bytes total;
  kernel::HugePages hugePages;
};

struct TopologyInputs {
  const kernel::CpuTopology& cpus;
  const kernel::CpuBasics& basics;
  std::vector<ZoneMemory> zones;
  const PodBook& pods;
  const api::Node& node;
  std::optional<KubeletConfig> kubelet;  // nullopt: not asked or no answer
  std::string cpuManagerState;           // text of cpu_manager_state; "": none
  bool reportHugePages = false;
};

struct DesiredTopology {
  std::map<std::string, std::string> annotations;
  std::map<std::string, std::string> labels;
  std::vector<std::string> policies;
  std::vector<api::Zone> zones;  // sorted by name as text: node-10 before node-2
  CpuSet sharedPool, bestEffortPool;
};
Result<DesiredTopology> desiredTopology(const TopologyInputs& inputs);

// ---- parts, for tests ------------------------------------------------------------------------

// n CPUs as the kubelet takes them: whole sockets, then whole cores, then threads, low ids first.
CpuSet takeByTopology(const kernel::CpuTopology& cpus, const CpuSet& available, size_t n);
// {"entries":{"<pod uid>":{"<container>":"0-1"}}} → the CPUs of each pod. "" is empty.
Result<std::map<std::string, CpuSet>> parseCpuManagerState(std::string_view text);
// Scope and policy as the object has them: "RestrictedPodLevel"; "None" for anything unknown.
std::string topologyPolicyOf(std::string_view policy, std::string_view scope);
api::CpuSharedPools poolsOf(const kernel::CpuTopology& cpus, const CpuSet& members);
// What each of `count` zones loses to the node's own reservation, rounded up.
Quantity zoneReservation(const Quantity& capacity, const Quantity& allocatable, size_t count);

}  // namespace mangrove::agent
