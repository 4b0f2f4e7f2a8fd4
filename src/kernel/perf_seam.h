#pragma once
// How a hardware counter of a cgroup is opened, so that machines without counters can be tested with
// a stand-in.
//
//   setOpenCounter([](uint64_t event, int cgroup, int cpu, int leader) { return UniqueFd(…); });
//
// Set it before the first counter is opened, from the thread that opens them.

#include <cstdint>

#include "base/os/fd.h"

namespace mangrove::kernel {

// `event`: the kernel's number of a hardware event; software events have kSoftwareEvent besides.
// `leader` -1: the first of a group. An empty descriptor is a refusal; errno says why.
inline constexpr uint64_t kSoftwareEvent = uint64_t{1} << 32;
using OpenCounter = UniqueFd (*)(uint64_t event, int cgroup, int cpu, int leader);
void setOpenCounter(OpenCounter open);  // nullptr: the kernel's own

}  // namespace mangrove::kernel
