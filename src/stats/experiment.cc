#include "stats/experiment.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/number/rng.h"

namespace mangrove::stats {
namespace {

constexpr size_t kRounds = 2000;

// One repetition: as many values as there are, drawn with replacement.
double resampledMedian(std::span<const double> values, Rng& rng) {
  std::vector<double> drawn(values.size());
  for (double& one : drawn) one = values[rng.below(values.size())];
  return medianOf(std::move(drawn));
}

Interval spread(double estimate, std::vector<double> repeated, double confidence, size_t count) {
  std::sort(repeated.begin(), repeated.end());
  const double tail = (1 - confidence) / 2;
  return {estimate, quantile(repeated, tail), quantile(repeated, 1 - tail), count};
}

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) return 0;
  const double at = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - std::floor(at));
}

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

Interval medianInterval(std::span<const double> values, double confidence, uint64_t seed) {
  const double median = medianOf({values.begin(), values.end()});
  if (values.size() < 2) return {median, median, median, values.size()};
  Rng rng(seed);
  std::vector<double> repeated(kRounds);
  for (double& one : repeated) one = resampledMedian(values, rng);
  return spread(median, std::move(repeated), confidence, values.size());
}

Interval ratioInterval(std::span<const double> a, std::span<const double> b, double confidence,
                       uint64_t seed) {
  const double below = medianOf({b.begin(), b.end()});
  if (a.empty() || below == 0) return {};
  Rng rng(seed);
  std::vector<double> repeated;
  for (size_t i = 0; i < kRounds; ++i) {
    const double top = resampledMedian(a, rng);
    const double bottom = resampledMedian(b, rng);
    if (bottom != 0) repeated.push_back(top / bottom);
  }
  const double estimate = medianOf({a.begin(), a.end()}) / below;
  return spread(estimate, std::move(repeated), confidence, std::min(a.size(), b.size()));
}

std::vector<size_t> interleaved(size_t rows, size_t runs, uint64_t seed) {
  Rng rng(seed);
  std::vector<size_t> order;
  for (size_t run = 0; run < runs; ++run) {
    std::vector<size_t> round(rows);
    std::iota(round.begin(), round.end(), size_t{0});
    std::shuffle(round.begin(), round.end(), rng);
    order.insert(order.end(), round.begin(), round.end());
  }
  return order;
}

std::string DiscardRule::text() const {
  return fmt::format("a run in which strangers used more than {:.2f} cores is thrown away",
                     mostStrangers);
}

bool keeps(const DiscardRule& rule, double strangerCores) {
  return strangerCores <= rule.mostStrangers;
}

}  // namespace mangrove::stats
