#include "agent/collect/pod_said.h"

namespace mangrove::agent {

PodSaid decodeSaid(const api::Pod& pod) {
  const api::Annotations& from = pod.meta.annotations;
  PodSaid out;
  out.status = api::parseResourceStatus(from);
  if (out.status && *out.status)
    out.ownCpus = CpuSet::parse((*out.status)->cpuset).value_or(CpuSet());
  out.burst = api::parseCpuBurst(from);
  out.memory = api::parseMemoryQos(from);
  out.blkio = api::parseBlkioQos(from);
  out.network = api::parseNetworkQos(from);
  out.resctrl = api::parseResctrl(from);
  out.oomScore = api::parseOomScoreAdj(from);
  return out;
}

}  // namespace mangrove::agent
