#include "stats/experiment.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/number/rng.h"

namespace mangrove::stats {
namespace {

TEST(Experiment, Quantiles) {
  const std::vector<double> values{1, 2, 3, 4, 5};
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile(values, 0.5), 3);
  EXPECT_EQ(quantile(values, 1), 5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.99), 4.96);
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(medianOf({4, 1, 3, 2}), 2.5);
}

TEST(Experiment, IntervalsOfFewValues) {
  EXPECT_EQ(medianInterval({}, 0.95, 1), (Interval{0, 0, 0, 0}));
  const std::vector<double> one{7};
  EXPECT_EQ(medianInterval(one, 0.95, 1), (Interval{7, 7, 7, 1}));
  const std::vector<double> same{3, 3, 3};
  EXPECT_EQ(medianInterval(same, 0.95, 1), (Interval{3, 3, 3, 3}));
  EXPECT_EQ(ratioInterval(one, {}, 0.95, 1), Interval{});
}

// In about 95 of 100 experiments the interval has the true median.
TEST(Experiment, IntervalsCover) {
  Rng rng(1);
  int covered = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> values(15);
    for (double& one : values) one = rng.unit();
    const Interval found = medianInterval(values, 0.95, rng.next());
    EXPECT_LE(found.low, found.estimate);
    EXPECT_GE(found.high, found.estimate);
    covered += found.low <= 0.5 && 0.5 <= found.high ? 1 : 0;
  }
  EXPECT_GE(covered, 180);
}

TEST(Experiment, Ratios) {
  std::vector<double> a, b;
  Rng rng(3);
  for (int i = 0; i < 40; ++i) a.push_back(2 + rng.unit() * 0.1), b.push_back(1 + rng.unit() * 0.1);
  const Interval ratio = ratioInterval(a, b, 0.95, 9);
  EXPECT_NEAR(ratio.estimate, 1.95, 0.1);
  EXPECT_GT(ratio.low, 1.8);
  EXPECT_LT(ratio.high, 2.1);
  EXPECT_EQ(ratio, ratioInterval(a, b, 0.95, 9));
}

TEST(Experiment, EveryRoundHasEveryRow) {
  const std::vector<size_t> order = interleaved(5, 10, 42);
  ASSERT_EQ(order.size(), 50u);
  bool differs = false;
  for (size_t run = 0; run < 10; ++run) {
    std::vector<size_t> round(order.begin() + run * 5, order.begin() + run * 5 + 5);
    differs |= !std::equal(round.begin(), round.end(), order.begin());
    std::sort(round.begin(), round.end());
    EXPECT_EQ(round, (std::vector<size_t>{0, 1, 2, 3, 4}));
  }
  EXPECT_TRUE(differs);
  EXPECT_EQ(order, interleaved(5, 10, 42));
}

TEST(Experiment, DiscardRule) {
  const DiscardRule rule{0.15};
  EXPECT_TRUE(keeps(rule, 0.15));
  EXPECT_FALSE(keeps(rule, 0.16));
  EXPECT_EQ(rule.text(), "a run in which strangers used more than 0.15 cores is thrown away");
}

}  // namespace
}  // namespace mangrove::stats
