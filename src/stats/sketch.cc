#include "stats/sketch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace mangrove::stats {
namespace {

// Far below any usage we measure (a billionth of a core or byte).
constexpr double kSmallest = 1e-9;

}  // namespace

Sketch::Sketch(double accuracy, size_t maxBuckets)
    : accuracy_(accuracy),
      logGrowth_(std::log((1 + accuracy) / (1 - accuracy))),
      maxBuckets_(maxBuckets) {
  CHECK(accuracy > 0 && accuracy < 1, "accuracy {}", accuracy);
  CHECK(maxBuckets > 0);
}

void Sketch::add(double value, uint64_t times) {
  if (std::isnan(value) || times == 0) return;
  value = std::clamp(value, 0.0, std::numeric_limits<double>::max());
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  sum_ += value * static_cast<double>(times);
  count_ += times;
  if (value <= kSmallest) {
    zeros_ += times;
  } else {
    counts_[slotFor(indexOf(value))] += times;
  }
}

void Sketch::merge(const Sketch& other) {
  CHECK(accuracy_ == other.accuracy_, "accuracy {} and {}", accuracy_, other.accuracy_);
  if (other.count_ == 0) return;
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = count_ == 0 ? other.max_ : std::max(max_, other.max_);
  // From the top, so that the floor below which buckets fold is right from the start.
  for (size_t i = other.counts_.size(); i-- > 0;)
    if (other.counts_[i] > 0)
      counts_[slotFor(other.lowest_ + static_cast<int32_t>(i))] += other.counts_[i];
  sum_ += other.sum_;
  count_ += other.count_;
  zeros_ += other.zeros_;
}

void Sketch::clear() {
  *this = Sketch(accuracy_, maxBuckets_);
}

std::optional<double> Sketch::min() const {
  return count_ == 0 ? std::nullopt : std::optional(min_);
}

std::optional<double> Sketch::max() const {
  return count_ == 0 ? std::nullopt : std::optional(max_);
}

std::optional<double> Sketch::quantile(double q) const {
  if (count_ == 0) return std::nullopt;
  const double exact = std::clamp(q, 0.0, 1.0) * static_cast<double>(count_ - 1);
  const uint64_t rank = std::min(static_cast<uint64_t>(exact), count_ - 1);
  if (rank < zeros_) return min_;
  uint64_t below = zeros_;
  for (size_t i = 0; i < counts_.size(); ++i) {
    below += counts_[i];
    if (rank < below) return std::clamp(middleOf(lowest_ + static_cast<int32_t>(i)), min_, max_);
  }
  return max_;
}

int32_t Sketch::indexOf(double value) const {
  return static_cast<int32_t>(std::ceil(std::log(value) / logGrowth_));
}

double Sketch::middleOf(int32_t index) const {
  // 2 * g^i / (g + 1), which is g^i * (1 - a): at most `a` away from either end of the bucket.
  return std::exp(index * logGrowth_) * (1 - accuracy_);
}

size_t Sketch::slotFor(int32_t index) {
  if (counts_.empty()) {
    lowest_ = index;
    counts_.push_back(0);
  }
  const int64_t highest = std::max<int64_t>(index, lowest_ + int64_t(counts_.size()) - 1);
  const int64_t floor = highest - static_cast<int64_t>(maxBuckets_) + 1;
  if (lowest_ < floor) {
    const size_t drop = std::min(counts_.size(), static_cast<size_t>(floor - lowest_));
    const auto end = counts_.begin() + static_cast<std::ptrdiff_t>(drop);
    const uint64_t folded = std::accumulate(counts_.begin(), end, uint64_t{0});
    counts_.erase(counts_.begin(), end);
    if (counts_.empty()) counts_.push_back(0);
    counts_[0] += folded;
    lowest_ = static_cast<int32_t>(floor);
  }
  const int64_t kept = std::max<int64_t>(index, floor);
  if (kept < lowest_) {
    counts_.insert(counts_.begin(), static_cast<size_t>(lowest_ - kept), 0);
    lowest_ = static_cast<int32_t>(kept);
  }
  const auto slot = static_cast<size_t>(kept - lowest_);
  if (slot >= counts_.size()) counts_.resize(slot + 1);
  return slot;
}

}  // namespace mangrove::stats
