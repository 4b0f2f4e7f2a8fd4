#pragma once
// The bucket layout of the prediction histograms: bucket n is `growth` times as wide as bucket n-1,
// so the relative error is the same everywhere and 158 buckets span 25 milli-cores to 1024 cores.
//
//   start(n) = first * (growth^n - 1) / (growth - 1)       start(0) = 0, start(1) = first
//   e.g. cpu: start(2) = 0.025 * (1.1025 - 1) / 0.05 = 0.05125 cores
//
// A value type without allocation; any thread may use a const one. The layout is part of the
// checkpoint format (a bucket is stored by its number), so it must not drift.
//
//   ExponentialBuckets b(1024, 0.025, 1.05);
//   size_t n = b.find(0.5);            // the bucket that holds half a core

#include <cstddef>

namespace mangrove::stats {

class ExponentialBuckets {
 public:
  // `max`: values above go to the last bucket; `first`: width of bucket 0. Needs max > 0, first >
  // 0, growth > 1 (checked: the numbers are ours).
  ExponentialBuckets(double max, double first, double growth);

  size_t count() const { return count_; }
  // Lower end of bucket n; n < count().
  double start(size_t n) const;
  // The bucket of a value. Negative values and NaN belong to bucket 0.
  size_t find(double value) const;

  bool operator==(const ExponentialBuckets&) const = default;

 private:
  double first_;
  double growth_;
  size_t count_;
};

}  // namespace mangrove::stats
