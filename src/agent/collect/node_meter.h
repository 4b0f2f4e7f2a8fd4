#pragma once
// Measures the node as a whole: CPU ticks and memory, in total and per NUMA node, and pressure.
//
//   NodeMeter meter(machine);
//   meter.sample(reader, clock, look.node);
//
// The first sample only primes: neither CPU nor memory of the node is given then. A counter that
// shrinks (a CPU was unplugged) gives no CPU either. One owner, no locks.

#include <vector>

#include "agent/collect/reader.h"
#include "agent/look.h"
#include "base/clock.h"

namespace mangrove::agent {

class NodeMeter {
 public:
  explicit NodeMeter(const Machine& machine);

  // `cold`: idle page cache of the whole machine, where it is known.
  void sample(Reader& reader, const Clock& clock, std::optional<Bytes> cold, NodeLook& out,
              MeterTroubles& troubles);
  // CPU alone, for ticks faster than a second: only usage.cpu is given.
  void sampleCpu(Reader& reader, const Clock& clock, NodeLook& out, MeterTroubles& troubles);
  // Cores since the last sample().
  std::optional<double> slotCpu() const { return slotCpu_; }
  PressureSet pressure(Reader& reader, MeterTroubles& troubles);
  // After CPUs came or went.
  void remap();

 private:
  struct PerCpu {
    uint64_t busy = 0;
    MonoTime at{};
    bool primed = false;
  };
  void readTicks(Reader& reader, const Clock& clock, bool slot, NodeLook& out,
                 MeterTroubles& troubles);
  void readNumaTicks(std::string_view text, MonoTime at, NodeLook& out, MeterTroubles& troubles);
  void readMemory(Reader& reader, std::optional<Bytes> cold, NodeLook& out,
                  MeterTroubles& troubles);
  void readNumaMemory(Reader& reader, NodeLook& out, MeterTroubles& troubles);

  const Machine& machine_;
  HotFile stat_, memory_;
  std::vector<HotFile> numaMemory_;
  HotFile cpuPressure_, memoryPressure_, ioPressure_;
  CpuRate rate_, slotRate_;
  std::optional<double> slotCpu_;
  std::vector<PerCpu> perCpu_;
  std::vector<int> nodeOfCpu_;  // -1: not known
  MonoTime interruptsAt_ = MonoTime::min();
};

}  // namespace mangrove::agent
