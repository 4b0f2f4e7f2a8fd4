#pragma once
// A quantile sketch with a relative error: any quantile is within `accuracy` (1 % by default) of
// the exact value, whatever the distribution, and sketches of parts merge into the sketch of the
// whole. For windows too long to keep raw points: one sketch per minute, merged on demand.
//
// Bucket i holds (g^(i-1), g^i] with g = (1+a)/(1-a); its midpoint 2*g^i/(g+1) is off by at most a.
// At most `maxBuckets` buckets are kept: beyond that the lowest ones fold into one, so low
// quantiles lose their promise first and high ones (the interesting end of usage) keep it. 2048
// buckets at 1 % span 17 decades, so in practice nothing folds. Values at or below 1e-9 count as 0:
// negative usage does not exist.
//
// A value type; one owner, no locks.
//
//   Sketch minute;  minute.add(cores);
//   hour.merge(minute);
//   double p99 = hour.quantile(0.99).value_or(0);

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove::stats {

class Sketch {
 public:
  static constexpr double kDefaultAccuracy = 0.01;
  static constexpr size_t kDefaultBuckets = 2048;

  // 0 < accuracy < 1, maxBuckets >= 1 (checked: the numbers are ours).
  explicit Sketch(double accuracy = kDefaultAccuracy, size_t maxBuckets = kDefaultBuckets);

  // NaN is ignored; infinity counts as the largest double.
  void add(double value, uint64_t times = 1);
  // Both must have the same accuracy. The smaller bucket limit of the two stays this one's own.
  void merge(const Sketch& other);
  void clear();

  uint64_t count() const { return count_; }
  double sum() const { return sum_; }
  // Smallest and largest value seen, exactly; nullopt while empty.
  std::optional<double> min() const;
  std::optional<double> max() const;
  // The value of rank floor(q * (n-1)), 0 <= q <= 1; nullopt while empty.
  std::optional<double> quantile(double q) const;
  size_t buckets() const { return counts_.size(); }
  double accuracy() const { return accuracy_; }

  // Compact bytes: a version, the scalars and one varint per bucket (runs of empty ones take two
  // bytes).
  std::string encode() const;
  static Result<Sketch> decode(std::string_view bytes);

 private:
  int32_t indexOf(double value) const;
  double middleOf(int32_t index) const;
  // Makes room for `index`, folding the lowest buckets when there are too many; the slot to count
  // in.
  size_t slotFor(int32_t index);

  double accuracy_;
  double logGrowth_;
  size_t maxBuckets_;
  uint64_t count_ = 0;
  uint64_t zeros_ = 0;
  double sum_ = 0;
  double min_ = 0;
  double max_ = 0;
  int32_t lowest_ = 0;            // index of counts_[0]
  std::vector<uint64_t> counts_;  // first and last are never 0
};

}  // namespace mangrove::stats
