#pragma once
// Cycles, instructions, misses of the last cache, stalls for memory and CPU time of one cgroup: one
// group of counters per online CPU, so that all numbers cover the same time.
//
//   auto group = PerfGroup::open(cgroupFd, topology.online);   // kUnsupported: no such counters
//   … ten seconds …
//   Result<PerfCounts> counts = group->read();                 // since it was opened
//
// Only cycles and instructions are needed; a processor that does not count the others is read
// without them. Descriptors: up to five per CPU, closed with the object. One owner, no locks.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/number/cpu_set.h"
#include "base/number/units.h"
#include "base/os/fd.h"
#include "base/result.h"

namespace mangrove::kernel {

struct PerfCounts {
  double cycles = 0;
  double instructions = 0;
  std::optional<double> cacheMisses = {};  // of the last cache
  std::optional<double> stallCycles =
      {};  // waiting for memory, or for what else the core is fed by
  std::optional<double> cpuSeconds = {};
  double counted = 1;  // share of its time in which the hardware was free to count; 0: never
  Duration window{};   // how long they were open; whoever opens them says
};

inline constexpr size_t kMostPerfEvents = 5;
// One reading of a group as the kernel writes it: counts scaled up for the time the counters had
// to share the hardware. Never ran: zero.
struct PerfReading {
  uint64_t count = 0;  // how many values follow
  uint64_t enabled = 0, running = 0;
  uint64_t values[kMostPerfEvents] = {};
};
PerfCounts scaled(const PerfReading& reading);
// Between two sums of one group.
PerfCounts operator-(const PerfCounts& later, const PerfCounts& earlier);

// What a group counts besides cycles and instructions.
enum class PerfExtras : uint8_t { kNone, kAll };

class PerfGroup {
 public:
  // `cgroup`: an open directory of the perf_event hierarchy (v1) or of the cgroup (v2).
  static Result<PerfGroup> open(int cgroup, const CpuSet& cpus,
                                PerfExtras extras = PerfExtras::kAll);
  Result<PerfCounts> read() const;

 private:
  struct PerCpu {
    std::vector<UniqueFd> events;  // the first leads
    std::vector<size_t> places;    // of each value, in the order of the events of perf_group.cc
  };
  static Result<PerCpu> openOn(int cgroup, int cpu, PerfExtras extras);
  std::vector<PerCpu> cpus_;
};

// Whether this machine counts cycles and instructions at all.
Result<> probePerf();

}  // namespace mangrove::kernel
