#pragma once
// Whether a pod that was bound here has room beside the others and asks for nothing that is the
// machine's, as a kubelet checks before it starts one: somebody may have bound it by hand. Pure.

#include <optional>
#include <string>
#include <vector>

#include "runtime/core/pod_model.h"

namespace mangrove::runtime {

struct Room {
  MilliCpu cpu;
  Bytes memory;
  int64_t pods = 0;
};
struct Refusal {
  std::string reason;  // OutOfcpu, OutOfmemory, OutOfpods, SysctlForbidden
  std::string message;
};
// Kernel parameters that are not the pod's alone: the machine's, or of a namespace it shares.
std::optional<Refusal> sysctlRefusal(const RunPod& pod);
// nullopt: it fits. A pod that has begun already is never refused.
std::optional<Refusal> refusalOf(const RunPod& pod, const std::vector<const RunPod*>& present,
                                 const Room& room);

}  // namespace mangrove::runtime
