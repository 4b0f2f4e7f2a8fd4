#pragma once
// What a treatment does, from pairs of measurements: one with it, one without, close to each other
// in time, which of the two came first decided by lot. Built for latencies, which have heavy tails,
// drift and days: nothing is assumed about their distribution.
//
//   Effect e = pairedEffect(logRatios(with, without), 0.95);
//   e.ratio                  // 1.03 [0.99, 1.08]: three percent more, perhaps none
//   e.significant()          // whether 1 lies outside
//   e.leastDetectable        // 0.06: smaller effects would have gone unnoticed four times of five
//
// The method is the Hodges-Lehmann estimate with the interval of the signed-rank test (Wilcoxon) on
// the logarithms of ratios. The lot makes the differences symmetric about the effect whatever the
// machine does, and symmetry is all the test needs, so its rate of error is exact for any number of
// pairs. docs/impact.md explains it. Pure functions, any thread.

#include <cstddef>
#include <span>
#include <vector>

#include "stats/experiment.h"

namespace mangrove::stats {

struct Effect {
  Interval ratio;              // with / without; high is infinite when there are too few pairs
  double confidence = 0;       // asked for; what is kept is at least that
  double pValue = 1;           // of "there is no effect"
  double leastDetectable = 0;  // share, e.g. 0.06, seen in four experiments of five; infinite: none
  size_t pairs = 0;
  bool enough() const;       // pairs for an interval at all
  bool significant() const;  // the interval leaves 1 out
};

// ln(with/without) per pair; a pair with a value that is not positive is left out.
std::vector<double> logRatios(std::span<const double> with, std::span<const double> without);
Effect pairedEffect(std::span<const double> logRatios, double confidence);
// The same of plain differences, for what may be zero: by how much, and where that lies; the ends
// are infinite when there are too few pairs.
Interval pairedShift(std::span<const double> differences, double confidence);
// So many pairs, like these, would show an effect of `share` (0.05) four times of five; 0: unknown.
size_t pairsNeeded(const Effect& effect, double share);

// P(T <= t) of the signed-rank statistic of n pairs under no effect; exact up to 100 pairs, then
// the normal approximation. For tests and the curious.
double signedRankBelow(size_t n, size_t t);
// The standard normal distribution's value below which a share p lies.
double normalQuantile(double p);

}  // namespace mangrove::stats
