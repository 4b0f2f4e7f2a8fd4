#pragma once
// What a container runtime is told of a pod and its containers, from the pod alone. Variables,
// mounts and devices need the machine and are added by who knows it (node/pods/runtime_prep.cc).
// Pure; any thread.

#include <string>

#include "runtime/core/pod_model.h"
#include "runtime/cri/messages.h"
#include "runtime/cri/runtime_class.h"

namespace mangrove::runtime::cri {

// Whether a container runtime, where there is one, runs this pod: not those of that class, and not
// the commands of people (`mangrove run`), which see the machine's own files.
bool isForRuntime(const RunPod& pod);

struct SandboxPlace {
  std::string cgroupParent, logDir;
  std::string runner;  // value of our label
};
SandboxConfig sandboxConfigOf(const RunPod& pod, const SandboxPlace& place);

// Everything but image, variables, mounts and devices. `machine`: its memory.
ContainerConfig containerConfigOf(const RunPod& pod, const ContainerSpec& container, int attempt,
                                  Bytes machine);

// Why the container may not run as the user it would have; "" when it may. As a kubelet says it.
std::string userRefusal(const RunPod& pod, const api::ContainerRun& run,
                        const std::optional<int64_t>& imageUser, const std::string& imageUserName);

}  // namespace mangrove::runtime::cri
