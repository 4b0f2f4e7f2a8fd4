#pragma once
// A histogram in which a sample's weight halves every half-life: what peak prediction learns from.
//
// Instead of shrinking all old weights at every step, a new sample weighs 2^((t - reference) /
// halfLife); percentiles do not care about the common factor. When the exponent passes 100 the
// reference moves to (a multiple of the half-life next to) the present and all weights are scaled
// down once. Buckets, rounding and checkpoint agree with Koordinator's, so its checkpoints can be
// taken over.
//
// One owner, no locks. Memory is fixed at construction: 8 bytes per bucket (158 for cpu, 205 for
// memory).
//
//   DecayingHistogram cpu(cpuHistogram());
//   cpu.add(cores, 1.0, clock.wall());
//   double peak = cpu.percentile(0.95);              // cores; 0 while nothing was learnt
//   HistogramCheckpoint saved = cpu.checkpoint();

#include <cstdint>
#include <map>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "base/text/time_text.h"
#include "stats/exponential_buckets.h"

namespace mangrove::stats {

struct HistogramOptions {
  ExponentialBuckets buckets;
  Duration halfLife;
  // A bucket below this weight counts as empty: a thousandth of the smallest sample weight, 0.1.
  double epsilon = 1e-4;

  bool operator==(const HistogramOptions&) const = default;
};
// Cores up to 1024 from 25 milli-cores; bytes up to 2 TiB from 5 MiB. 5 % growth (Koordinator's
// values).
HistogramOptions cpuHistogram(Duration halfLife = std::chrono::hours(12));
HistogramOptions memoryHistogram(Duration halfLife = std::chrono::hours(24));

// What is kept on disk. Weights are relative: the heaviest bucket has 10000, lighter than half a
// unit is left out.
// A histogram that never saw a sample has the year 1 (kZeroTime) as its reference.
struct HistogramCheckpoint {
  WallTime referenceTimestamp = kZeroTime;
  std::map<int, uint32_t> bucketWeights;
  double totalWeight = 0;

  bool operator==(const HistogramCheckpoint&) const = default;
};

class DecayingHistogram {
 public:
  explicit DecayingHistogram(HistogramOptions options);

  // `weight` >= 0 before decay; samples may arrive in any order of time.
  void add(double value, double weight, WallTime time);
  // Takes back a sample given earlier. What would fall below epsilon becomes 0.
  void subtract(double value, double weight, WallTime time);
  // Both must have the same options. `other` is not changed.
  void merge(const DecayingHistogram& other);

  bool empty() const;
  // Upper end of the bucket in which the share `q` (0 to 1) of all weight is reached; the last
  // bucket has no upper end and gives its lower one. 0 when empty.
  double percentile(double q) const;
  double totalWeight() const { return total_; }
  WallTime reference() const { return reference_; }  // where a new sample weighs 1
  const HistogramOptions& options() const { return options_; }

  HistogramCheckpoint checkpoint() const;
  // A new histogram from a checkpoint; an error names the bucket or weight that cannot be.
  static Result<DecayingHistogram> restore(HistogramOptions options, const HistogramCheckpoint&);

 private:
  double decayFactor(WallTime time);
  void shiftReference(WallTime time);
  void scale(double factor);
  void narrowEnds();
  double heaviest() const;

  HistogramOptions options_;
  std::vector<double> weights_;
  double total_ = 0;
  // First and last bucket that is not empty; crossed over while all are.
  size_t first_;
  size_t last_ = 0;
  WallTime reference_ = kZeroTime;
};

// The multiple of `step` counted from year 1 that is nearest to `time`, the later one when two are.
WallTime roundToMultiple(WallTime time, Duration step);

}  // namespace mangrove::stats
