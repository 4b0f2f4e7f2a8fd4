#pragma once
// Which CPUs a container gets when it starts, by its class and by what the scheduler decided: LSE
// and LSR their own, LS the shared pool, BE what suppression leaves. Pure functions, any thread.
//
//   Result<CpusetRule> rule = cpusetRule(topologyAnnotations, beCpuManager);
//   containerCpuset(*rule, {rawQos, KubeQos::kBurstable, &pod.meta.annotations})
//        // nullopt: leave it alone; "": clear it

#include <optional>
#include <string>
#include <string_view>

#include "agent/collect/pod_said.h"
#include "api/annotations/topology.h"
#include "api/pod/classes.h"
#include "base/number/cpu_set.h"
#include "base/result.h"

namespace mangrove::agent {

struct CpusetRule {
  api::CpuSharedPools servicePools;
  api::CpuSharedPools batchPools;
  bool kubeletIsStatic = false;
  std::string systemCpus;  // "": none configured
  bool beCpuManager = false;
};
// From the NodeResourceTopology's annotations.
Result<CpusetRule> cpusetRule(const api::Annotations& topology, bool beCpuManager);

struct CpusetPod {
  api::Qos qos = api::Qos::kNone;  // raw
  api::KubeQos kubeQos = api::KubeQos::kUnset;
  const api::Annotations* annotations = nullptr;
  const PodSaid* said = nullptr;  // the annotations, decoded already; null: not yet
};
Result<std::optional<std::string>> containerCpuset(const CpusetRule& rule, const CpusetPod& pod);

// All CPUs, and those that pods have to themselves.
struct MachineCpus {
  CpuSet all, owned;
};
// The CPUs that are written for a container, by the tick and by a runtime's hook alike: its rule's
// less what somebody else has to himself (published pools follow some seconds later). A service of
// whose pool nothing is left runs anywhere but where somebody is to be alone. Empty: leave it alone.
CpuSet shapedCpus(const std::string& wanted, const CpusetPod& pod, const MachineCpus& here);

// The QoS of a pod by the name of its parent cgroup, as runtimes tell it.
api::KubeQos kubeQosOfParent(std::string_view cgroupParent);
// Pods with CPUs of their own run without a CFS quota.
bool runsWithoutQuota(const PodSaid& pod);
bool runsWithoutQuota(const api::Annotations& pod);

}  // namespace mangrove::agent
