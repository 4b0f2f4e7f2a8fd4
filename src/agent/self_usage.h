#pragma once
// What this process itself costs: the agent reports on its host's behalf and is a guest there.
//
//   SelfUsage self = readSelfUsage();
//
// Any thread.

#include <vector>

#include "base/number/units.h"

namespace mangrove::agent {

struct SelfUsage {
  Duration cpu{};  // user and system time since start
  Bytes rss;
  Bytes pss;  // shared pages counted by share; 0 when it was not asked for
};
// `withPss` costs a walk through all mappings.
SelfUsage readSelfUsage(bool withPss = false);
// Of another process, with the CPU time of children it waited for; rss 0 when it is gone.
SelfUsage readUsageOf(int pid);
// The same as `readUsageOf(pid).rss`, without a walk through all mappings.
Bytes residentMemoryOf(int pid);
// How many files, sockets and the like it has open; 0 when it is gone.
int64_t descriptorsOf(int pid);
// Processes that it started and that live.
std::vector<int> childrenOf(int pid);

}  // namespace mangrove::agent
