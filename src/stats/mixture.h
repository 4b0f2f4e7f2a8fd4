#pragma once
// One-dimensional mixtures of Gaussians, and the fence they put around what is ordinary. A service
// has several ordinary states (a cache that is warm or cold, a busy and a quiet half hour); a single
// mean and deviation would call the second one an anomaly, or hide one between the two.
//
//   Mixture fit = bestMixture(samples);                  // 1 to 10 components, by BIC
//   std::optional<double> fence = fenceOf(fit, samples, Side::kUpper);
//
// Samples carry weights, so that histograms of many nodes are fitted as they are. Deterministic:
// the components begin at quantiles. Pure functions, any thread.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace mangrove::stats {

struct Weighted {
  double value = 0;
  double weight = 1;
};

struct Component {
  double share = 0;  // of all weight
  double mean = 0;
  double sigma = 0;
  double least = 0, most = 0;  // of the samples that belong to it more than to any other
};

struct Mixture {
  std::vector<Component> components;
  double bic = 0;
  double weight = 0;  // of all samples
};

// By expectation maximisation; components that lose all their weight are dropped. `leastSigma`: how
// finely the samples were measured; of a histogram, the width of its buckets, or each bucket would
// look like a state of its own.
Mixture fitMixture(std::span<const Weighted> samples, size_t components, double leastSigma = 0);
// The one of 1 to `most` components with the smallest BIC = -2 ln L + (3k - 1) ln n.
Mixture bestMixture(std::span<const Weighted> samples, size_t most = 10, double leastSigma = 0);

enum class Side { kUpper, kLower };

// A place for the fence and the share of all samples beyond it.
struct Candidate {
  double fence = 0;
  double outliers = 0;
};
// The candidate with the most outliers that are still at most `tolerated`; where all have more, the
// one with the fewest. nullopt: there are none.
std::optional<double> chooseFence(std::span<const Candidate> candidates, double tolerated = 0.10);
// Three deviations from each component's mean, but not beyond its last sample.
std::optional<double> fenceOf(const Mixture& mixture, std::span<const Weighted> samples, Side side);

}  // namespace mangrove::stats
