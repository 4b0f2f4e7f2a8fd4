#pragma once
// Aggregates of a window of raw samples by the reference's rule: no interpolation, the value at
// index trunc(float32(n) * float32(p)) - 1 of the ascending order (floor 0). Of ten values p99 is
// the ninth, not the tenth; consumers are tuned to that, so it stays.
//
// Pure functions. `aggregate` reorders the values it is given instead of allocating a copy.
//
//   std::vector<double> cores = …;
//   if (auto window = aggregate(cores)) report(window->p95);

#include <cstddef>
#include <optional>
#include <span>

namespace mangrove::stats {

// Index of the percentile `p` (0 to 1) in n ascending values; n > 0.
size_t percentileIndex(size_t n, double p);
// The same by the nearest-rank rule of textbooks: of ten values p99 is the tenth.
size_t nearestRankIndex(size_t n, double p);
enum class PercentileRule { kReference, kNearestRank };

// nullopt for an empty window. Reorders `values`.
std::optional<double> percentile(std::span<double> values, double p);
// Arithmetic mean, summed in the given order; nullopt for an empty window.
std::optional<double> average(std::span<const double> values);

struct Aggregate {
  double avg = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0;
  size_t count = 0;
};
// All five in one pass over ever smaller parts of the window; nullopt when it is empty. Reorders
// `values`.
std::optional<Aggregate> aggregate(std::span<double> values,
                                   PercentileRule rule = PercentileRule::kReference);

}  // namespace mangrove::stats
