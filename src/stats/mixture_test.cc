#include "stats/mixture.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/number/rng.h"

namespace mangrove::stats {
namespace {

double normal(Rng& rng, double mean, double sigma) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += rng.unit();
  return mean + sigma * (sum - 6);
}

std::vector<Weighted> around(uint64_t seed, std::initializer_list<Component> parts, int count) {
  Rng rng(seed);
  std::vector<Weighted> out;
  for (const Component& one : parts)
    for (int i = 0; i < static_cast<int>(one.share * count); ++i)
      out.push_back({normal(rng, one.mean, one.sigma), 1});
  return out;
}

// Interference T-IN-2.
TEST(Fence, TakesTheMostOutliersThatAreTolerable) {
  struct Row {
    std::vector<Candidate> candidates;
    std::optional<double> fence;
  };
  for (const Row& row :
       {Row{{{1.35, 0.22}, {1.80, 0.06}, {2.60, 0}}, 1.80}, Row{{{1.35, 0.22}, {1.5, 0.12}}, 1.5},
        Row{{{1.0, 0.10}}, 1.0}, Row{{}, std::nullopt}})
    EXPECT_EQ(chooseFence(row.candidates), row.fence);
}

TEST(Mixture, FindsOneStateAndItsFence) {
  const auto samples = around(1, {{1, 1.8, 0.1}}, 500);
  const Mixture fit = bestMixture(samples);
  ASSERT_EQ(fit.components.size(), 1u);
  EXPECT_NEAR(fit.components[0].mean, 1.8, 0.02);
  EXPECT_NEAR(fit.components[0].sigma, 0.1, 0.02);
  EXPECT_NEAR(fenceOf(fit, samples, Side::kUpper).value(), 2.08, 0.08);
  EXPECT_NEAR(fenceOf(fit, samples, Side::kLower).value(), 1.52, 0.08);
}

TEST(Mixture, TellsTwoStatesApart) {
  const auto samples = around(2, {{0.7, 1.0, 0.05}, {0.3, 2.0, 0.1}}, 600);
  const Mixture fit = bestMixture(samples);
  ASSERT_EQ(fit.components.size(), 2u);
  EXPECT_NEAR(fit.components[0].share, 0.7, 0.03);
  // The second state is ordinary too: the fence is beyond it.
  EXPECT_GT(fenceOf(fit, samples, Side::kUpper).value(), 2.1);
}

TEST(Mixture, WeightsAreAsGoodAsRepetitions) {
  const auto once = around(3, {{0.5, 1.0, 0.1}, {0.5, 3.0, 0.2}}, 200);
  std::vector<Weighted> twice = once, heavy = once;
  twice.insert(twice.end(), once.begin(), once.end());
  for (Weighted& one : heavy) one.weight = 2;
  const Mixture a = fitMixture(twice, 2), b = fitMixture(heavy, 2);
  ASSERT_EQ(a.components.size(), b.components.size());
  for (size_t i = 0; i < a.components.size(); ++i)
    EXPECT_NEAR(a.components[i].mean, b.components[i].mean, 1e-6);
  EXPECT_NEAR(a.bic, b.bic, 1e-3);
}

TEST(Mixture, SurvivesSamplesWithoutSpread) {
  const std::vector<Weighted> same(50, {1.5, 1});
  const Mixture fit = bestMixture(same);
  ASSERT_FALSE(fit.components.empty());
  EXPECT_NEAR(fenceOf(fit, same, Side::kUpper).value(), 1.5, 1e-3);
  EXPECT_TRUE(bestMixture({}).components.empty());
}

}  // namespace
}  // namespace mangrove::stats
