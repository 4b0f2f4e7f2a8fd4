#include "stats/decaying_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/number/int128.h"

namespace mangrove::stats {
namespace {

// Beyond 2^100 a weight would begin to swallow its neighbours' digits.
constexpr int kMaxDecayExponent = 100;
constexpr double kMaxCheckpointWeight = 10000;
constexpr double kGrowth = 1.05;

// Nanoseconds from b to a, held at the ends of int64 (292 years), as the reference's time type
// does: the distance to the year 1 is not representable and its exact size does not matter.
double nanosBetween(WallTime a, WallTime b) {
  const Int128 wide = static_cast<Int128>((a - b).count()) * 1000;
  constexpr Int128 kMost = std::numeric_limits<int64_t>::max();
  return static_cast<double>(static_cast<int64_t>(std::clamp(wide, -kMost - 1, kMost)));
}

// 2^x by the very steps of the reference: fdlibm's way, e^r of the remainder by its minimax polynomial.
// The C library's exp2 differs in the last bit for every tenth x. Weights that lie fifty half-lives
// apart add up to a sum in which that bit decides whether the early ones still count, and with them
// the upper percentiles.
double twoTo(double x) {
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  constexpr double kPolynomial[] = {4.13813679705723846039e-08, -1.65339022054652515390e-06,
                                    6.61375632143793436117e-05, -2.77777777770155933842e-03,
                                    1.66666666666666657415e-01};
  if (!(x > -1074 && x < 1024)) return std::exp2(x);  // 0, infinity
  const int whole = static_cast<int>(x < 0 ? x - 0.5 : x + 0.5);
  const double rest = x - whole;
  const double high = rest * kLn2High, low = -rest * kLn2Low;
  const double r = high - low, square = r * r;
  double sum = 0;
  for (double c : kPolynomial) sum = c + square * sum;
  const double c = r - square * sum;
  return std::ldexp(1 - ((low - (r * c) / (2 - c)) - high), whole);
}

double halfLivesBetween(WallTime a, WallTime b, Duration halfLife) {
  return nanosBetween(a, b) / static_cast<double>(halfLife.count());
}

double lessOrZero(double value, double part, double epsilon) {
  return value - part < epsilon ? 0 : value - part;
}

Result<> checkWeights(const ExponentialBuckets& buckets, const HistogramCheckpoint& saved) {
  if (!(saved.totalWeight >= 0) || std::isinf(saved.totalWeight))
    return invalid("totalWeight {}: want a finite number of at least 0", saved.totalWeight);
  for (const auto& [bucket, weight] : saved.bucketWeights)
    if (bucket < 0 || static_cast<size_t>(bucket) >= buckets.count())
      return invalid("bucket {} of weight {}: want a bucket from 0 to {}", bucket, weight,
                     buckets.count() - 1);
  return {};
}

}  // namespace

HistogramOptions cpuHistogram(Duration halfLife) {
  return {ExponentialBuckets(1024, 0.025, kGrowth), halfLife};
}

HistogramOptions memoryHistogram(Duration halfLife) {
  constexpr double kMiBs = 1024.0 * 1024.0;
  return {ExponentialBuckets(2 * kMiBs * kMiBs, 5 * kMiBs, kGrowth), halfLife};
}

DecayingHistogram::DecayingHistogram(HistogramOptions options)
    : options_(options), weights_(options_.buckets.count()), first_(options_.buckets.count() - 1) {
  CHECK(options_.halfLife.count() > 0, "half-life {} ns", options_.halfLife.count());
}

void DecayingHistogram::add(double value, double weight, WallTime time) {
  CHECK(weight >= 0, "sample weight {}", weight);
  const double decayed = weight * decayFactor(time);
  const size_t bucket = options_.buckets.find(value);
  weights_[bucket] += decayed;
  total_ += decayed;
  if (weights_[bucket] < options_.epsilon) return;
  first_ = std::min(first_, bucket);
  last_ = std::max(last_, bucket);
}

void DecayingHistogram::subtract(double value, double weight, WallTime time) {
  CHECK(weight >= 0, "sample weight {}", weight);
  const double decayed = weight * decayFactor(time);
  double& bucket = weights_[options_.buckets.find(value)];
  total_ = lessOrZero(total_, decayed, options_.epsilon);
  bucket = lessOrZero(bucket, decayed, options_.epsilon);
  narrowEnds();
}

void DecayingHistogram::merge(const DecayingHistogram& other) {
  CHECK(options_ == other.options_, "histograms of different layout or half-life");
  if (reference_ < other.reference_) shiftReference(other.reference_);
  DecayingHistogram aligned = other;
  if (aligned.reference_ < reference_) aligned.shiftReference(reference_);
  for (size_t n = aligned.first_; n <= aligned.last_; ++n) weights_[n] += aligned.weights_[n];
  total_ += aligned.total_;
  first_ = std::min(first_, aligned.first_);
  last_ = std::max(last_, aligned.last_);
}

bool DecayingHistogram::empty() const {
  return weights_[first_] < options_.epsilon;
}

double DecayingHistogram::percentile(double q) const {
  if (empty()) return 0;
  const double wanted = q * total_;
  double reached = 0;
  size_t n = first_;
  for (; n < last_; ++n) {
    reached += weights_[n];
    if (reached >= wanted) break;
  }
  const size_t end = n + 1;
  return options_.buckets.start(end < options_.buckets.count() ? end : n);
}

HistogramCheckpoint DecayingHistogram::checkpoint() const {
  HistogramCheckpoint saved{reference_, {}, total_};
  const double unit = kMaxCheckpointWeight / heaviest();
  for (size_t n = first_; n <= last_; ++n) {
    const auto weight = static_cast<uint32_t>(std::round(weights_[n] * unit));
    if (weight > 0) saved.bucketWeights.emplace(static_cast<int>(n), weight);
  }
  return saved;
}

Result<DecayingHistogram> DecayingHistogram::restore(HistogramOptions options,
                                                     const HistogramCheckpoint& saved) {
  if (auto ok = checkWeights(options.buckets, saved); !ok) return pass(ok.error());
  DecayingHistogram histogram(options);
  histogram.reference_ = saved.referenceTimestamp;
  int64_t sum = 0;
  for (const auto& [bucket, weight] : saved.bucketWeights) sum += weight;
  if (sum == 0) return histogram;
  const double unit = saved.totalWeight / static_cast<double>(sum);
  for (const auto& [bucket, weight] : saved.bucketWeights) {
    const auto n = static_cast<size_t>(bucket);
    histogram.weights_[n] = weight * unit;
    histogram.first_ = std::min(histogram.first_, n);
    histogram.last_ = std::max(histogram.last_, n);
  }
  histogram.total_ = saved.totalWeight;
  return histogram;
}

double DecayingHistogram::decayFactor(WallTime time) {
  if (nanosBetween(time, reference_) >
      static_cast<double>(options_.halfLife.count()) * kMaxDecayExponent)
    shiftReference(time);
  return twoTo(halfLivesBetween(time, reference_, options_.halfLife));
}

void DecayingHistogram::shiftReference(WallTime time) {
  const WallTime next = roundToMultiple(time, options_.halfLife);
  scale(std::exp2(std::round(halfLivesBetween(reference_, next, options_.halfLife))));
  reference_ = next;
}

void DecayingHistogram::scale(double factor) {
  for (double& weight : weights_) weight *= factor;
  total_ *= factor;
  narrowEnds();
}

void DecayingHistogram::narrowEnds() {
  while (first_ + 1 < weights_.size() && weights_[first_] < options_.epsilon) ++first_;
  while (last_ > 0 && weights_[last_] < options_.epsilon) --last_;
}

double DecayingHistogram::heaviest() const {
  double most = 0;
  for (size_t n = first_; n <= last_; ++n) most = std::max(most, weights_[n]);
  return most;
}

WallTime roundToMultiple(WallTime time, Duration step) {
  const Int128 nanos = static_cast<Int128>((time - kZeroTime).count()) * 1000;
  const Int128 width = step.count();
  Int128 past = nanos % width;
  if (past < 0) past += width;
  const Int128 rounded = 2 * past < width ? nanos - past : nanos - past + width;
  return kZeroTime + std::chrono::microseconds(static_cast<int64_t>(rounded / 1000));
}

}  // namespace mangrove::stats
