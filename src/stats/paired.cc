#include "stats/paired.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mangrove::stats {
namespace {

constexpr size_t kExact = 100;  // pairs; 5050 sums, a moment's work
constexpr double kPower = 0.8;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

double normalBelow(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

// How many of the 2^n choices of signs have each sum of positive ranks, as shares.
std::vector<double> signedRankShares(size_t n) {
  std::vector<double> shares(n * (n + 1) / 2 + 1, 0.0);
  shares[0] = 1;
  for (size_t rank = 1; rank <= n; ++rank) {
    for (size_t sum = shares.size(); sum-- > 0;) {
      const double without = shares[sum];
      const double with = sum >= rank ? shares[sum - rank] : 0;
      shares[sum] = (without + with) / 2;
    }
  }
  return shares;
}

double approximately(size_t n, size_t t) {
  const auto count = static_cast<double>(n);
  const double mean = count * (count + 1) / 4;
  const double deviation = std::sqrt(count * (count + 1) * (2 * count + 1) / 24);
  return normalBelow((static_cast<double>(t) + 0.5 - mean) / deviation);
}

// The means of all pairs of values and of each with itself, ascending.
std::vector<double> walshAverages(std::span<const double> values) {
  std::vector<double> out;
  out.reserve(values.size() * (values.size() + 1) / 2);
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = i; j < values.size(); ++j) out.push_back((values[i] + values[j]) / 2);
  std::sort(out.begin(), out.end());
  return out;
}

// How many averages to leave out at each end: the largest k with P(T <= k - 1) <= tail.
size_t leftOut(size_t n, double tail) {
  if (n > kExact) {
    size_t k = 0;
    while (signedRankBelow(n, k) <= tail) ++k;
    return k;
  }
  const auto shares = signedRankShares(n);
  double below = 0;
  for (size_t k = 0; k < shares.size(); ++k) {
    below += shares[k];
    if (below > tail) return k;
  }
  return 0;
}

// The statistic is the number of averages above zero; those at zero count half.
double pValueOf(std::span<const double> averages, size_t n) {
  const auto lower = std::lower_bound(averages.begin(), averages.end(), 0.0);
  const auto upper = std::upper_bound(averages.begin(), averages.end(), 0.0);
  const auto below = static_cast<size_t>(lower - averages.begin());
  const auto above = static_cast<size_t>(averages.end() - upper);
  const size_t ties = averages.size() - below - above;
  return std::min(1.0, 2 * signedRankBelow(n, std::min(below, above) + ties / 2));
}

}  // namespace

double normalQuantile(double p) {
  double low = -9, high = 9;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (normalBelow(middle) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

double signedRankBelow(size_t n, size_t t) {
  if (t >= n * (n + 1) / 2) return 1;
  if (n > kExact) return approximately(n, t);
  const auto shares = signedRankShares(n);
  double below = 0;
  for (size_t sum = 0; sum <= t; ++sum) below += shares[sum];
  return below;
}

bool Effect::enough() const {
  return pairs > 0 && std::isfinite(ratio.high);
}

bool Effect::significant() const {
  return enough() && (ratio.low > 1 || ratio.high < 1);
}

std::vector<double> logRatios(std::span<const double> with, std::span<const double> without) {
  std::vector<double> out;
  for (size_t i = 0; i < std::min(with.size(), without.size()); ++i)
    if (with[i] > 0 && without[i] > 0) out.push_back(std::log(with[i] / without[i]));
  return out;
}

Interval pairedShift(std::span<const double> differences, double confidence) {
  Interval out{0, -kInfinite, kInfinite, differences.size()};
  if (differences.empty()) return out;
  const auto averages = walshAverages(differences);
  out.estimate = quantile(averages, 0.5);
  const size_t k = leftOut(differences.size(), (1 - confidence) / 2);
  if (k == 0) return out;
  out.low = averages[k - 1];
  out.high = averages[averages.size() - k];
  return out;
}

Effect pairedEffect(std::span<const double> logRatios, double confidence) {
  Effect out;
  out.confidence = confidence;
  out.pairs = logRatios.size();
  out.leastDetectable = kInfinite;
  out.ratio = {1, 0, kInfinite, out.pairs};
  if (logRatios.empty()) return out;
  const Interval shift = pairedShift(logRatios, confidence);
  out.ratio.estimate = std::exp(shift.estimate);
  out.pValue = pValueOf(walshAverages(logRatios), out.pairs);
  if (!std::isfinite(shift.high)) return out;
  out.ratio.low = std::exp(shift.low);
  out.ratio.high = std::exp(shift.high);
  const double z = normalQuantile((1 + confidence) / 2);
  const double error = (shift.high - shift.low) / (2 * z);
  out.leastDetectable = std::exp((z + normalQuantile(kPower)) * error) - 1;
  return out;
}

size_t pairsNeeded(const Effect& effect, double share) {
  if (!effect.enough() || share <= 0) return 0;
  const double times = std::log1p(effect.leastDetectable) / std::log1p(share);
  return static_cast<size_t>(std::ceil(static_cast<double>(effect.pairs) * times * times));
}

}  // namespace mangrove::stats
