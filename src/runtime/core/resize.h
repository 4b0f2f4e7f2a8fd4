#pragma once
// Resources changed in place (pods/resize): what differs between what a pod's containers were given
// and what its spec asks for now, and whether this machine has it.
//
//   Resize next = resizeOf(pod, record, {MilliCpu{2000}, Bytes{…}});
//   // next.apply: cgroups to rewrite; next.restart: containers whose rules ask for a restart
//
// Pure.

#include <string>
#include <vector>

#include "runtime/core/pod_model.h"

namespace mangrove::runtime {

struct MachineSize {
  MilliCpu cpu;
  Bytes memory;
};

struct Resize {
  std::vector<std::string> apply;
  std::vector<std::string> restart;
  std::string infeasible;  // a sentence; nothing is applied then
  bool needed() const { return !apply.empty() || !restart.empty(); }
};
Resize resizeOf(const RunPod& pod, const PodRecord& record, const MachineSize& machine);

}  // namespace mangrove::runtime
