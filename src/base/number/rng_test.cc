#include "base/number/rng.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace mangrove {
namespace {

using namespace std::chrono_literals;

// Recorded once; a change here breaks every replay.
TEST(RngTest, SameSeedSameNumbersOnEveryMachine) {
  Rng rng(42);
  const std::vector<uint64_t> first = {rng.next(), rng.next(), rng.next(), rng.next()};
  EXPECT_EQ(first, (std::vector<uint64_t>{1546998764402558742u, 6990951692964543102u,
                                          12544586762248559009u, 17057574109182124193u}));
  EXPECT_NE(Rng(1).next(), Rng(2).next());
}

TEST(RngTest, BelowCoversItsRangeEvenly) {
  Rng rng(7);
  std::array<int, 6> counts{};
  constexpr int kDraws = 60000;
  for (int i = 0; i < kDraws; ++i) ++counts[rng.below(6)];
  for (int count : counts) EXPECT_NEAR(count, kDraws / 6, 500);
  EXPECT_EQ(rng.below(1), 0u);
  const uint64_t huge = (uint64_t{1} << 63) + 1;
  for (int i = 0; i < 100; ++i) EXPECT_LT(rng.below(huge), huge);
}

TEST(RngTest, BetweenIncludesBothEnds) {
  Rng rng(3);
  std::vector<int64_t> seen;
  for (int i = 0; i < 200; ++i) seen.push_back(rng.between(-1, 1));
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_EQ(seen, (std::vector<int64_t>{-1, 0, 1}));
  rng.between(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(rng.between(5, 5), 5);
}

TEST(RngTest, UnitAndChance) {
  Rng rng(11);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double value = rng.unit();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
  EXPECT_FALSE(rng.chance(0));
  EXPECT_TRUE(rng.chance(1));
}

TEST(RngTest, JitterStaysAroundItsBase) {
  Rng rng(5);
  Duration low = 1h, high = 0s;
  for (int i = 0; i < 1000; ++i) {
    const Duration drawn = rng.jitter(10s, 0.1);
    low = std::min(low, drawn);
    high = std::max(high, drawn);
  }
  EXPECT_GE(low, 9s);
  EXPECT_LE(high, 11s);
  EXPECT_LT(low, 9200ms);
  EXPECT_GT(high, 10800ms);
  EXPECT_EQ(rng.jitter(10s, 0), 10s);
  EXPECT_GE(rng.jitter(10s, 5), 0s);
}

TEST(RngTest, SplitsAreIndependentAndShufflesWork) {
  Rng parent(1);
  Rng a = parent.split();
  Rng b = parent.split();
  EXPECT_NE(a.next(), b.next());
  std::vector<int> cards(10);
  std::iota(cards.begin(), cards.end(), 0);
  std::shuffle(cards.begin(), cards.end(), a);
  EXPECT_TRUE(std::is_permutation(cards.begin(), cards.end(),
                                  std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}.begin()));
}

}  // namespace
}  // namespace mangrove
