#pragma once
// Cycles and instructions of one cgroup: a group of two hardware counters per online CPU, opened
// for a while and read once, so that both numbers cover the same time.
//
//   auto group = PerfGroup::open(cgroupFd, topology.online);   // kUnsupported: no such counters
//   … ten seconds …
//   Result<PerfCounts> counts = group->read();
//
// Descriptors: two per CPU, closed with the object. One owner, no locks.

#include <cstdint>
#include <vector>

#include "base/number/cpu_set.h"
#include "base/os/fd.h"
#include "base/result.h"

namespace mangrove::kernel {

struct PerfCounts {
  double cycles = 0;
  double instructions = 0;
};

// One reading of a group as the kernel writes it: counts scaled up for the time the counters had
// to share the hardware. Never ran: zero.
struct PerfReading {
  uint64_t count = 0;  // how many values follow
  uint64_t enabled = 0, running = 0;
  uint64_t values[2] = {0, 0};
};
PerfCounts scaled(const PerfReading& reading);

class PerfGroup {
 public:
  // `cgroup`: an open directory of the perf_event hierarchy (v1) or of the cgroup (v2).
  static Result<PerfGroup> open(int cgroup, const CpuSet& cpus);
  Result<PerfCounts> read() const;

 private:
  struct PerCpu {
    UniqueFd leader;
    UniqueFd instructions;
  };
  std::vector<PerCpu> cpus_;
};

// Whether this machine counts cycles and instructions at all.
Result<> probePerf();

}  // namespace mangrove::kernel
