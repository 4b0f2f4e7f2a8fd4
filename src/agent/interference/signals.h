#pragma once
// What a service's counters say, and which resource is short when they say too much. Pure functions
// and values; any thread.
//
//   auto sample = sampleOf({.cycles = 6e9, .instructions = 3e9, .cpuSeconds = 20, .window = 10s});
//   for (Resource short : contentionOf(*sample, fences, 4)) …

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/number/units.h"

namespace mangrove::agent::interference {

enum class Resource : uint8_t {
  kCpu,
  kCache,
  kBandwidth,
  kMemory,
  kIo,
  kNetwork,
  kPower,
  kUnknown
};
std::string_view resourceName(Resource resource);  // cpu, llc, membw, mem, io, net, power, unknown
std::optional<Resource> resourceNamed(std::string_view name);

// What changed within one window of the counters.
struct CounterDeltas {
  double cycles = 0, instructions = 0;
  std::optional<double> cacheMisses = {}, stallCycles = {};
  double cpuSeconds = 0;
  Duration window{};
  double counted = 1;  // share of the window in which the counters really ran
};

struct CounterSample {
  double cpi = 0;
  std::optional<double> mpki = {}, spki = {};  // misses and stalled cycles per 1000 instructions
  double util = 0;                             // percent of one CPU
  double frequency = 0;                        // normalised: MHz while it runs
};
// nullopt: too little ran, or was counted, to say anything.
std::optional<CounterSample> sampleOf(const CounterDeltas& deltas);

struct SignalFences {
  std::optional<double> cpi = {}, mpki = {}, spki = {};
  std::optional<double> frequency = {};  // the power fence: a lower one
};
// Empty: nothing is wrong. A CPI beyond its fence without a reason is kUnknown.
std::vector<Resource> contentionOf(const CounterSample& sample, const SignalFences& fences,
                                   double cpus);

// An anomaly counts when it holds in two of three periods.
class TwoOfThree {
 public:
  bool add(bool seen) {
    seen_ = {seen_[1], seen_[2], seen};
    return seen_[0] + seen_[1] + seen_[2] >= 2;
  }

 private:
  std::array<bool, 3> seen_{};
};

// A signal as a linear function of the service's own work and of the use by offline work: what it
// would show without these, and how much of the excess is theirs.
struct OfflineSample {
  double cycles = 0, offline = 0, value = 0;
};
struct OfflineFit {
  double constant = 0, perCycle = 0, perOffline = 0;
  double sigma = 0, r2 = 0;
  size_t samples = 0;
  bool usable() const { return r2 >= 0.3 && samples >= 200; }
  double alone(double cycles) const { return constant + perCycle * cycles; }
  double fence(double cycles) const { return alone(cycles) + 3 * sigma; }
  // Share of what is too much that offline work accounts for, 0 to 1.
  double attributed(const OfflineSample& seen) const;
};
// Ridge regression (1e-3) over z-scored inputs.
OfflineFit fitOffline(std::span<const OfflineSample> samples);

}  // namespace mangrove::agent::interference
