#include "stats/decaying_histogram.h"

#include <random>

#include <gtest/gtest.h>

namespace mangrove::stats {
namespace {

using namespace std::chrono_literals;

// 2026-03-01T12:00:00Z
constexpr WallTime kNoon{std::chrono::seconds{1772366400}};

TEST(DecayingHistogram, PredictsTheEndOfTheBucket) {
  struct Row {
    double value;
    double expected;
  };
  // The reference's own example, in cores.
  for (auto [value, expected] :
       {Row{0, 0.025}, {0.1, 0.107}, {0.5, 0.539}, {1, 1.035}, {4, 4.217}, {2000, 1060.437}}) {
    DecayingHistogram h(cpuHistogram());
    h.add(value, 1, kNoon);
    for (double q : {0.0, 0.5, 1.0}) EXPECT_NEAR(h.percentile(q), expected, 1e-3) << value;
  }
}

TEST(DecayingHistogram, EmptyPredictsNothing) {
  DecayingHistogram h(memoryHistogram());
  EXPECT_TRUE(h.empty());
  EXPECT_EQ(h.percentile(0.95), 0);
  EXPECT_EQ(h.checkpoint(), HistogramCheckpoint{});
}

TEST(DecayingHistogram, ASampleTooLightForABucketLeavesItEmpty) {
  DecayingHistogram h(cpuHistogram());
  h.add(1, 1e-6, kNoon);
  EXPECT_TRUE(h.empty());
  EXPECT_EQ(h.percentile(1), 0);
}

TEST(DecayingHistogram, WeightHalvesEveryHalfLife) {
  DecayingHistogram h(cpuHistogram(1h));
  h.add(1, 1, kNoon);       // one half-life older: weight 1 …
  h.add(8, 1, kNoon + 1h);  // … against 2
  EXPECT_NEAR(h.percentile(0.33), 1.035, 1e-3);
  EXPECT_GT(h.percentile(0.34), 8);
  EXPECT_DOUBLE_EQ(h.totalWeight(), 3);
}

TEST(DecayingHistogram, ReferenceMovesWhenTheExponentPassesAHundred) {
  DecayingHistogram h(cpuHistogram(1h));
  h.add(1, 1, kNoon);
  h.add(1, 1, kNoon + 100h);
  EXPECT_EQ(h.checkpoint().referenceTimestamp, kNoon);
  h.add(8, 1, kNoon + 101h);
  EXPECT_EQ(h.checkpoint().referenceTimestamp, kNoon + 101h);
  EXPECT_NEAR(h.totalWeight(), 1.5, 1e-9);  // 2^-101 + 2^-1 + 1
}

TEST(DecayingHistogram, LongForgottenSamplesVanish) {
  DecayingHistogram h(cpuHistogram(1h));
  h.add(8, 1, kNoon);
  h.add(1, 1, kNoon + 240h);
  EXPECT_NEAR(h.percentile(1), 1.035, 1e-3);
  EXPECT_EQ(h.checkpoint().bucketWeights.size(), 1u);
}

TEST(DecayingHistogram, SubtractTakesBackWhatAddGave) {
  DecayingHistogram h(cpuHistogram());
  h.add(1, 1, kNoon);
  h.add(8, 1, kNoon);
  h.subtract(8, 1, kNoon);
  EXPECT_NEAR(h.percentile(1), 1.035, 1e-3);
  h.subtract(1, 1, kNoon);
  EXPECT_TRUE(h.empty());
  EXPECT_EQ(h.totalWeight(), 0);
}

TEST(DecayingHistogram, MergeEqualsAddingToOne) {
  DecayingHistogram young(cpuHistogram(1h));
  DecayingHistogram old(cpuHistogram(1h));
  DecayingHistogram both(cpuHistogram(1h));
  for (int i = 0; i < 300; ++i) {
    auto& part = i < 150 ? old : young;
    part.add(i % 40, 1, kNoon + i * 1h);
    both.add(i % 40, 1, kNoon + i * 1h);
  }
  for (auto [into, from] : {std::pair(young, old), std::pair(old, young)}) {
    into.merge(from);
    for (double q : {0.1, 0.5, 0.9, 0.99}) EXPECT_EQ(into.percentile(q), both.percentile(q));
  }
}

TEST(DecayingHistogram, RestoredHistogramPredictsTheSame) {
  std::mt19937 rng(7);
  std::exponential_distribution<double> load(0.3);
  DecayingHistogram h(cpuHistogram());
  for (int i = 0; i < 2000; ++i) h.add(load(rng), 1, kNoon + i * 1min);
  auto restored = DecayingHistogram::restore(cpuHistogram(), h.checkpoint());
  ASSERT_TRUE(restored);
  for (double q : {0.5, 0.9, 0.95, 0.98}) EXPECT_EQ(restored->percentile(q), h.percentile(q)) << q;
  restored->add(3, 1, kNoon + 3000min);
  EXPECT_FALSE(restored->empty());
}

TEST(DecayingHistogram, RestoreRefusesWhatCannotBe) {
  struct Row {
    HistogramCheckpoint saved;
    const char* error;
  };
  for (const auto& [saved, error] :
       {Row{{kNoon, {{158, 1}}, 1}, "bucket 158 of weight 1: want a bucket from 0 to 157"},
        {{kNoon, {{-1, 2}}, 1}, "bucket -1 of weight 2: want a bucket from 0 to 157"},
        {{kNoon, {}, -1}, "totalWeight -1: want a finite number of at least 0"}}) {
    auto restored = DecayingHistogram::restore(cpuHistogram(), saved);
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().text(), error);
  }
}

TEST(DecayingHistogram, WeightlessCheckpointRestoresEmpty) {
  auto restored = DecayingHistogram::restore(cpuHistogram(), {kNoon, {{3, 0}}, 5});
  ASSERT_TRUE(restored);
  EXPECT_TRUE(restored->empty());
}

TEST(RoundToMultiple, NearestCountedFromYearOneHalfUp) {
  EXPECT_EQ(roundToMultiple(kNoon + 5h, 12h), kNoon);
  EXPECT_EQ(roundToMultiple(kNoon + 6h, 12h), kNoon + 12h);
  EXPECT_EQ(roundToMultiple(kNoon - 6h, 12h), kNoon);
  EXPECT_EQ(roundToMultiple(kZeroTime + 1us, 24h), kZeroTime);
  // 0001-01-01 was a Monday, so weeks start on Mondays: Sunday noon rounds to the Monday after.
  EXPECT_EQ(roundToMultiple(kNoon, 7 * 24h), kNoon + 12h);
}

}  // namespace
}  // namespace mangrove::stats
