#pragma once
// Sends a signal to the main processes of a cgroup: those whose parents are elsewhere. Their children
// are not asked, because most programs end by a signal that they do not expect.
//
//   Result<int> sent = signalMain(machine, container.cgroup, SIGUSR1);     // how many got it
//
// Owner thread. The caller records it.

#include <string_view>

#include "agent/machine.h"
#include "base/result.h"

namespace mangrove::agent {

Result<int> signalMain(const Machine& machine, std::string_view cgroup, int signal);

// The field of /proc/PID/stat behind the name, which may hold blanks and brackets.
std::optional<int> parentIn(std::string_view procStat);

}  // namespace mangrove::agent
