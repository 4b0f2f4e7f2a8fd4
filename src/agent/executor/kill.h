#pragma once
// Ends every process of a cgroup at once: by cgroup.kill where the kernel has it (v2, and the v2 tree
// of a hybrid machine), else one by one until none is left.
//
//   Result<> ok = killCgroup(machine, pod.cgroup);
//
// Owner thread. The caller records it.

#include <string_view>
#include <vector>

#include "agent/machine.h"
#include "base/result.h"

namespace mangrove::agent {

// The processes of a cgroup and of all below it, without our own.
std::vector<int> processesBelow(const Machine& machine, std::string_view cgroup);
Result<> killCgroup(const Machine& machine, std::string_view cgroup);

}  // namespace mangrove::agent
