#pragma once
// What a pod's annotations say to this node, decoded once when the pod arrives and not at every tick
// by everybody who asks. An annotation that makes no sense is an error that names it, for whoever
// would have followed it to show.
//
//   const PodSaid said = decodeSaid(pod);
//   if (!said.ownCpus.empty()) …                    // CPUs the scheduler gave to it alone
//
// A value; any thread.

#include <memory>
#include <optional>

#include "api/annotations/cpu.h"
#include "api/annotations/qos.h"
#include "api/pod/pod.h"
#include "base/number/cpu_set.h"
#include "base/result.h"

namespace mangrove::agent {

struct PodSaid {
  template <class T>
  using Said = Result<std::optional<T>>;

  Said<api::ResourceStatus> status = std::optional<api::ResourceStatus>();
  // Of the status: CPUs of its own, without those that do not parse.
  CpuSet ownCpus;
  Said<api::CpuBurstConfig> burst = std::optional<api::CpuBurstConfig>();
  Said<api::PodMemoryQos> memory = std::optional<api::PodMemoryQos>();
  Said<api::BlkioQos> blkio = std::optional<api::BlkioQos>();
  Said<api::PodNetworkQos> network = std::optional<api::PodNetworkQos>();
  Said<api::ResctrlConfig> resctrl = std::optional<api::ResctrlConfig>();
  Result<api::OomScoreAdj> oomScore = api::OomScoreAdj();

  // Placed by the scheduler: on CPUs of its own or on NUMA nodes.
  bool isPlaced() const {
    return status && *status &&
           (!(*status)->cpuset.empty() || !(*status)->numaNodeResources.empty());
  }
};
PodSaid decodeSaid(const api::Pod& pod);
using PodSaidPtr = std::shared_ptr<const PodSaid>;

}  // namespace mangrove::agent
