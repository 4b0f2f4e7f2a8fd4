#include "stats/percentile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace mangrove::stats {
namespace {

double selectAt(std::span<double> values, size_t index) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(index);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

size_t percentileIndex(size_t n, double p) {
  CHECK(n > 0);
  // Single precision is part of the rule: 0.9f * 10.0f is exactly 9, in double it is less or more.
  const float rank = static_cast<float>(n) * static_cast<float>(p);
  const size_t index = rank < 1.0F ? 0 : static_cast<size_t>(rank) - 1;
  return std::min(index, n - 1);
}

size_t nearestRankIndex(size_t n, double p) {
  CHECK(n > 0);
  // A product that is a whole number may come out a hair above it.
  const double rank = std::ceil(static_cast<double>(n) * p - 1e-9);
  return rank < 1 ? 0 : std::min(static_cast<size_t>(rank) - 1, n - 1);
}

std::optional<double> percentile(std::span<double> values, double p) {
  if (values.empty()) return std::nullopt;
  return selectAt(values, percentileIndex(values.size(), p));
}

std::optional<double> average(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<Aggregate> aggregate(std::span<double> values, PercentileRule rule) {
  if (values.empty()) return std::nullopt;
  Aggregate out;
  out.count = values.size();
  out.avg = *average(values);
  // After selecting index i everything below is no larger, so the next lower percentile only looks
  // there.
  const std::array<std::pair<double, double*>, 4> wanted = {
      {{0.99, &out.p99}, {0.95, &out.p95}, {0.9, &out.p90}, {0.5, &out.p50}}};
  const auto indexOf = rule == PercentileRule::kReference ? percentileIndex : nearestRankIndex;
  std::span<double> rest = values;
  for (const auto& [p, slot] : wanted) {
    const size_t index = indexOf(values.size(), p);
    *slot = selectAt(rest, index);
    rest = rest.first(index + 1);
  }
  return out;
}

}  // namespace mangrove::stats
