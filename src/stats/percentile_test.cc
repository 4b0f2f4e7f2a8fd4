#include "stats/percentile.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace mangrove::stats {
namespace {

TEST(Percentile, IndexFollowsTheReference) {
  struct Row {
    size_t n;
    double p;
    size_t index;
  };
  for (auto [n, p, index] : {Row{1, 0.5, 0},
                             {1, 0.99, 0},
                             {2, 0.99, 0},
                             {3, 0.9, 1},
                             {4, 0.5, 1},
                             {10, 0.9, 8},
                             {10, 0.99, 8},
                             {11, 0.95, 9},
                             {20, 0.95, 18},
                             {100, 0.99, 98},
                             {300, 0.95, 284},
                             {7, 0, 0},
                             {7, 1, 6},
                             {7, 2, 6}})
    EXPECT_EQ(percentileIndex(n, p), index) << n << " " << p;
}

TEST(Percentile, NearestRank) {
  struct Row {
    size_t n;
    double p;
    size_t index;
  };
  for (auto [n, p, index] : {Row{1, 0.5, 0},
                             {2, 0.99, 1},
                             {4, 0.5, 1},
                             {10, 0.9, 8},
                             {10, 0.99, 9},
                             {20, 0.95, 18},
                             {100, 0.99, 98},
                             {300, 0.95, 284},
                             {7, 0, 0},
                             {7, 2, 6}})
    EXPECT_EQ(nearestRankIndex(n, p), index) << n << " " << p;
  std::vector<double> values = {10, 1, 9, 2, 8, 3, 7, 4, 6, 5};
  EXPECT_EQ(aggregate(values)->p99, 9);
  EXPECT_EQ(aggregate(values, PercentileRule::kNearestRank)->p99, 10);
}

TEST(Percentile, EmptyWindowHasNone) {
  std::vector<double> none;
  EXPECT_EQ(percentile(none, 0.5), std::nullopt);
  EXPECT_EQ(average(none), std::nullopt);
  EXPECT_FALSE(aggregate(none));
}

TEST(Percentile, AggregateAgreesWithSorting) {
  std::mt19937 rng(1);
  std::uniform_int_distribution<int> value(0, 50);
  for (size_t n = 1; n < 200; ++n) {
    std::vector<double> values(n);
    for (double& v : values) v = value(rng);
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const double avg = *average(values);
    auto got = *aggregate(values);
    EXPECT_EQ(got.p50, sorted[percentileIndex(n, 0.5)]);
    EXPECT_EQ(got.p90, sorted[percentileIndex(n, 0.9)]);
    EXPECT_EQ(got.p95, sorted[percentileIndex(n, 0.95)]);
    EXPECT_EQ(got.p99, sorted[percentileIndex(n, 0.99)]);
    EXPECT_EQ(got.avg, avg);
    EXPECT_EQ(got.count, n);
  }
}

}  // namespace
}  // namespace mangrove::stats
