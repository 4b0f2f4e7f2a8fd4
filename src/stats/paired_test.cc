#include "stats/paired.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "base/number/rng.h"

namespace mangrove::stats {
namespace {

TEST(SignedRank, KnownProbabilities) {
  // From published tables: P(T <= 0) = 2^-n; n = 10: P(T <= 8) = 0.0244; n = 12: P(T <= 13) =
  // 0.0212.
  EXPECT_DOUBLE_EQ(signedRankBelow(5, 0), 1.0 / 32);
  EXPECT_NEAR(signedRankBelow(10, 8), 0.0244, 0.0001);
  EXPECT_NEAR(signedRankBelow(12, 13), 0.0212, 0.0001);
  EXPECT_DOUBLE_EQ(signedRankBelow(4, 10), 1);
  // The approximation takes over without a step.
  EXPECT_NEAR(signedRankBelow(101, 2000), signedRankBelow(100, 1961), 0.01);
}

TEST(NormalQuantile, KnownValues) {
  EXPECT_NEAR(normalQuantile(0.975), 1.95996, 1e-4);
  EXPECT_NEAR(normalQuantile(0.8), 0.84162, 1e-4);
}

TEST(PairedEffect, TooFewPairsClaimNothing) {
  for (size_t n : {0u, 1u, 5u}) {
    const Effect effect = pairedEffect(std::vector<double>(n, 0.5), 0.95);
    EXPECT_FALSE(effect.enough()) << n;
    EXPECT_FALSE(effect.significant()) << n;
    EXPECT_EQ(pairsNeeded(effect, 0.05), 0u) << n;
  }
  EXPECT_TRUE(pairedEffect(std::vector<double>{.1, .2, .3, .4, .5, .6}, 0.95).significant());
}

TEST(PairedEffect, AWorkedCase) {
  // Six pairs at 95 %: one average is left out at each end, so the interval is from the least to
  // the largest value.
  const double values[] = {-0.1, 0.0, 0.1, 0.2, 0.3, 0.4};
  const Effect effect = pairedEffect(values, 0.95);
  EXPECT_NEAR(effect.ratio.estimate, std::exp(0.15), 1e-9);
  EXPECT_NEAR(effect.ratio.low, std::exp(-0.1), 1e-9);
  EXPECT_NEAR(effect.ratio.high, std::exp(0.4), 1e-9);
  EXPECT_FALSE(effect.significant());
}

TEST(PairedEffect, OneWildPairDoesNotMoveIt) {
  std::vector<double> values;
  for (int i = 0; i < 15; ++i) values.push_back(0.1 + 0.001 * i);
  const Effect calm = pairedEffect(values, 0.95);
  values[3] = 5;
  const Effect wild = pairedEffect(values, 0.95);
  EXPECT_NEAR(calm.ratio.estimate, wild.ratio.estimate, 0.005);
  EXPECT_LT(wild.ratio.high, 1.2);
}

TEST(LogRatios, LeavesOutWhatHasNone) {
  const double with[] = {2, 0, 3, 1}, without[] = {1, 1, 0, 1};
  EXPECT_EQ(logRatios(with, without), (std::vector<double>{std::log(2.0), 0.0}));
}

// A service as it is met outside: lognormal service times with a Pareto tail, a day, drift that
// remembers itself, and now and then a window that is simply bad.
class Service {
 public:
  explicit Service(uint64_t seed) : rng_(seed) {}
  // The p99 of the next window, all latencies `factor` times what they would have been.
  double window(double factor, size_t requests) {
    ++at_;
    drift_ = 0.9 * drift_ + 0.08 * normal();
    const double day = 0.3 * std::sin(static_cast<double>(at_) * 0.15);
    const double bad = rng_.chance(0.05) ? 1 + 2 * rng_.unit() : 1;
    std::vector<double> latencies(requests);
    for (double& one : latencies) one = latency();
    std::sort(latencies.begin(), latencies.end());
    return quantile(latencies, 0.99) * std::exp(drift_ + day) * bad * factor;
  }
  // Which of a pair comes first is decided by lot.
  double logRatioOfPair(double factor, size_t requests) {
    const bool first = rng_.chance(0.5);
    const double a = window(first ? factor : 1, requests);
    const double b = window(first ? 1 : factor, requests);
    return first ? std::log(a / b) : std::log(b / a);
  }

 private:
  double normal() {
    return std::sqrt(-2 * std::log(1 - rng_.unit())) * std::cos(2 * M_PI * rng_.unit());
  }
  double latency() {
    if (rng_.chance(0.02)) return 3 * std::pow(1 - rng_.unit(), -1 / 1.5);
    return std::exp(0.6 * normal());
  }
  Rng rng_;
  double drift_ = 0;
  int at_ = 0;
};

struct Rates {
  double covered = 0, claimed = 0;
};

Rates simulate(double factor, size_t pairs, int runs, double confidence) {
  int covered = 0, claimed = 0;
  for (int run = 0; run < runs; ++run) {
    Service service(static_cast<uint64_t>(run) * 7919 + static_cast<uint64_t>(1000 * factor));
    std::vector<double> ratios;
    for (size_t i = 0; i < pairs; ++i) ratios.push_back(service.logRatioOfPair(factor, 200));
    const Effect effect = pairedEffect(ratios, confidence);
    covered += effect.ratio.low <= factor && factor <= effect.ratio.high ? 1 : 0;
    claimed += effect.significant() ? 1 : 0;
  }
  return {static_cast<double>(covered) / runs, static_cast<double>(claimed) / runs};
}

// What `mangrove report` states is what happens: 400 experiments for each injected effect. Chance
// alone moves a rate of 95 % by 1.1 points (one standard deviation); three are allowed.
TEST(PairedEffect, KeepsItsPromises) {
  constexpr int kRuns = 400;
  constexpr double kConfidence = 0.95;
  const double slack = 3 * std::sqrt(kConfidence * (1 - kConfidence) / kRuns);
  for (double added : {0.0, 0.03, 0.1, 0.5}) {
    const Rates rates = simulate(1 + added, 24, kRuns, kConfidence);
    EXPECT_GE(rates.covered, kConfidence - slack) << added;
    if (added == 0) {
      EXPECT_LE(rates.claimed, 1 - kConfidence + slack);
    }
    if (added == 0.5) {
      EXPECT_GT(rates.claimed, 0.9) << "an oracle that never speaks";
    }
    RecordProperty(
        "added" + std::to_string(static_cast<int>(std::lround(100 * added))),
        std::to_string(rates.covered) + " covered, " + std::to_string(rates.claimed) + " claimed");
  }
}

TEST(PairedEffect, LeastDetectableIsDetectedFourTimesOfFive) {
  constexpr int kRuns = 300;
  double least = 0;
  for (int run = 0; run < 30; ++run) {
    Service service(static_cast<uint64_t>(run) + 1);
    std::vector<double> ratios;
    for (int i = 0; i < 30; ++i) ratios.push_back(service.logRatioOfPair(1, 200));
    least += pairedEffect(ratios, 0.95).leastDetectable / 30;
  }
  EXPECT_NEAR(simulate(1 + least, 30, kRuns, 0.95).claimed, 0.8, 0.12);
}

TEST(PairsNeeded, GrowWithTheSquare) {
  std::vector<double> values;
  Service service(3);
  for (int i = 0; i < 20; ++i) values.push_back(service.logRatioOfPair(1, 200));
  const Effect effect = pairedEffect(values, 0.95);
  EXPECT_EQ(pairsNeeded(effect, effect.leastDetectable), 20u);
  EXPECT_GT(pairsNeeded(effect, effect.leastDetectable / 2), 60u);
}

}  // namespace
}  // namespace mangrove::stats
