#pragma once
// How a comparison on a noisy machine is made honest: rows interleaved in random order, runs
// disturbed by strangers thrown away by a rule that was fixed before, medians with confidence
// intervals instead of single figures. Pure functions; chance comes from a seed.
//
//   for (size_t row : interleaved(rows.size(), 10, seed)) runs[row].push_back(run(row));
//   Interval p99 = medianInterval(kept(runs, rule), 0.95, seed);
//   Interval inflation = ratioInterval(ours, alone, 0.95, seed);     // 1.03 [0.98, 1.09]

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mangrove::stats {

struct Interval {
  double estimate = 0, low = 0, high = 0;
  size_t count = 0;  // values it is made of
  bool operator==(const Interval&) const = default;
};

// Between the two nearest values, as most tools have it; 0 for an empty span. `sorted` ascends.
double quantile(std::span<const double> sorted, double q);
double medianOf(std::vector<double> values);

// The median and where it would lie in `confidence` of repetitions (percentile bootstrap). With
// fewer than two values the interval is the value.
Interval medianInterval(std::span<const double> values, double confidence, uint64_t seed);
// The same of median(a) / median(b); the runs are independent. Zero everywhere when b has none.
Interval ratioInterval(std::span<const double> a, std::span<const double> b, double confidence,
                       uint64_t seed);

// Every row `runs` times: in each round all rows once, in an order of its own.
std::vector<size_t> interleaved(size_t rows, size_t runs, uint64_t seed);

// Fixed before the first run and printed with the result.
struct DiscardRule {
  double mostStrangers = 0.15;  // cores used by anybody who is not part of the experiment
  std::string text() const;
};
bool keeps(const DiscardRule& rule, double strangerCores);

}  // namespace mangrove::stats
