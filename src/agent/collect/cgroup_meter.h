#pragma once
// Measures one cgroup: CPU, memory, throttling, pressure, cold pages. Knows which files both
// cgroup versions have for it; under v2 one read of cpu.stat gives usage and throttling.
//
//   CgroupMeter meter(machine, "kubepods.slice/pod1");
//   CgroupSample s = meter.sample(reader, clock, {.memory = true});
//   if (!s.alive) … the cgroup is gone
//
// One owner, no locks.

#include <memory>
#include <optional>
#include <string>

#include "agent/collect/rate.h"
#include "agent/collect/reader.h"
#include "agent/machine.h"
#include "base/clock.h"
#include "kernel/cgroup_stat.h"
#include "kernel/pressure.h"

namespace mangrove::agent {

struct PressureSet {
  std::optional<kernel::Pressure> cpu, memory, io;
};

// Periods of the quota's clock since the last sample, and those in which the group ran out.
struct PeriodCount {
  int64_t passed = 0;
  int64_t throttled = 0;
  bool operator==(const PeriodCount&) const = default;
};

struct CgroupSample {
  bool alive = false;                         // the CPU counter could be read
  bool gone = false;                          // there is no such cgroup
  std::optional<double> cpu;                  // cores since the last sample
  std::optional<double> slotCpu;              // cores since the last sample with `slot`
  std::optional<kernel::MemoryUsage> memory;  // as read last
  std::optional<Bytes> cold;
  std::optional<double> throttled;  // share of the periods since the last sample
  std::optional<PeriodCount> periods;
  std::optional<double> runQueue;  // seconds waited for a CPU per second
};

// What to read this time. CPU is always read.
struct Measure {
  bool slot = true;  // this sample goes into the history
  bool memory = true;
  bool throttling = true;
  bool cold = false;
};

// What went wrong, for self-metrics.
struct MeterTroubles {
  uint64_t unreadable = 0;   // text that is not what the kernel should say
  uint64_t implausible = 0;  // numbers that cannot be
  uint64_t shrunk = 0;       // counters that went backwards
};

class CgroupMeter {
 public:
  CgroupMeter(const Machine& machine, std::string cgroup);

  CgroupSample sample(Reader& reader, const Clock& clock, const Measure& what,
                      MeterTroubles& troubles);
  PressureSet pressure(Reader& reader, MeterTroubles& troubles);
  const std::string& cgroup() const { return cgroup_; }
  // CPU time since the cgroup was made, as read last.
  Duration cpuTime() const { return cpuTime_; }

 private:
  void readCpu(Reader& reader, const Clock& clock, const Measure& what, CgroupSample& out,
               MeterTroubles& troubles);
  void readThrottling(std::string_view text, CgroupSample& out, MonoTime at,
                      MeterTroubles& troubles);
  void readMemory(Reader& reader, MeterTroubles& troubles);
  void readCold(Reader& reader, CgroupSample& out, MeterTroubles& troubles);

  const Machine* machine_;
  std::string cgroup_;
  HotFile cpu_;         // cpuacct.usage or cpu.stat
  HotFile throttling_;  // v1 only: cpu.stat
  HotFile memory_;
  struct PressureFiles {
    HotFile cpu, memory, io;
  };
  std::unique_ptr<PressureFiles> pressure_;  // made when first asked for
  CpuRate rate_, slotRate_;
  std::optional<kernel::MemoryUsage> lastMemory_;
  std::optional<kernel::CpuThrottling> before_;
  CpuRate runQueue_;
  Duration cpuTime_{};
};

}  // namespace mangrove::agent
