#include "sim/contention.h"

#include <gtest/gtest.h>

#include "sim/batch_limit.h"
#include "sim/sums.h"
#include "sim/use.h"

namespace mangrove::sim {
namespace {

struct Division {
  CpuNeeds needs;
  double services, batch;
};
class Divided : public ::testing::TestWithParam<Division> {};

TEST_P(Divided, ServicesComeFirst) {
  const CpuGrants got = divideCpu(GetParam().needs);
  EXPECT_DOUBLE_EQ(got.services, GetParam().services);
  EXPECT_DOUBLE_EQ(got.batch, GetParam().batch);
}

INSTANTIATE_TEST_SUITE_P(Table, Divided,
                         ::testing::Values(Division{{32, 2, 10, 5, 32}, 10, 5},    // enough
                                           Division{{32, 2, 10, 30, 32}, 10, 20},  // the rest
                                           Division{{32, 2, 10, 30, 8}, 10, 8},    // the limit
                                           Division{{32, 2, 40, 30, 8}, 30, 0},    // overload
                                           Division{{2, 4, 1, 1, 1}, 0, 0}));      // no room

TEST(FairShares, FollowWeightsAndLeaveNothing) {
  EXPECT_EQ(fairShares(10, {}), std::vector<double>{});
  const std::vector<CpuClaim> even = {{8, 1}, {8, 1}};
  EXPECT_EQ(fairShares(10, even), (std::vector<double>{5, 5}));
  const std::vector<CpuClaim> modest = {{1, 1}, {8, 1}};
  EXPECT_EQ(fairShares(6, modest), (std::vector<double>{1, 5}));
  const std::vector<CpuClaim> heavy = {{8, 3}, {8, 1}};
  EXPECT_EQ(fairShares(8, heavy), (std::vector<double>{6, 2}));
  const std::vector<CpuClaim> enough = {{1, 1}, {2, 1}};
  EXPECT_EQ(fairShares(8, enough), (std::vector<double>{1, 2}));
}

TEST(KilledFor, TheLargestGoFirst) {
  const std::vector<int64_t> uses = {5, 9, 9, 1};
  EXPECT_EQ(killedFor(0, uses), std::vector<size_t>{});
  EXPECT_EQ(killedFor(3, uses), (std::vector<size_t>{1}));
  EXPECT_EQ(killedFor(10, uses), (std::vector<size_t>{1, 2}));
  EXPECT_EQ(killedFor(100, uses), (std::vector<size_t>{1, 2, 0, 3}));
}

TEST(Use, FollowsCurveAndNoise) {
  EXPECT_DOUBLE_EQ(coresWanted(MilliCpu{4000}, 0.5, 0.1, 1), 2.2);
  EXPECT_DOUBLE_EQ(coresWanted(MilliCpu{4000}, 0.5, 1, -1), 0);
  EXPECT_EQ(bytesUsed(Bytes{1000}, 0.5, 1), 500);
  EXPECT_EQ(bytesUsed(Bytes{1000}, 0.5, 0), 350);
  double sum = 0, least = 1, most = -1;
  for (int i = 0; i < 10000; i++) {
    const double value = noiseAt(1, 2, i);
    sum += value, least = std::min(least, value), most = std::max(most, value);
  }
  EXPECT_NEAR(sum / 10000, 0, 0.03);
  EXPECT_TRUE(least >= -1 && least < -0.99 && most < 1 && most > 0.99) << least << " " << most;
  EXPECT_EQ(noiseAt(1, 2, 3), noiseAt(1, 2, 3));
  EXPECT_NE(noiseAt(1, 2, 3), noiseAt(2, 2, 3));
}

TEST(Use, PeaksAheadAreWhatComes) {
  const Curve curve{"c", 60, {1, 3, 2, 0, 5, 1}};
  EXPECT_EQ(peaksAhead(curve, 60, 360, 0), (std::vector<float>{1, 3, 2, 0, 5, 1}));
  EXPECT_EQ(peaksAhead(curve, 60, 360, 60), (std::vector<float>{3, 3, 2, 5, 5, 1}));
  EXPECT_EQ(peaksAhead(curve, 60, 360, 600), (std::vector<float>{5, 5, 5, 5, 5, 1}));
}

// Every course of budgets gives the same limits, whether all seconds are decided or only those in
// which something can change.
TEST(BatchLimit, LeavesOutOnlySecondsThatChangeNothing) {
  for (const char* policy : {"cfsQuota", "cpuset"}) {
    api::ResourceThresholdStrategy strategy;
    strategy.enable = true;
    strategy.cpuSuppressPolicy = policy;
    BatchLimit exact(strategy, 32, Stepping::kExact);
    BatchLimit adaptive(strategy, 32, Stepping::kAdaptive);
    for (int i = 0; i < 2000; i++) {
      const double wave = 10 + 8 * noiseAt(1, 1, i / 20) + noiseAt(1, 2, i);
      const MilliCpu budget{static_cast<int64_t>(wave * 1000)};
      const double a = exact.over(i * 60, 60, budget);
      const double b = adaptive.over(i * 60, 60, budget);
      EXPECT_NEAR(a, b, 0.02) << policy << " step " << i;
      EXPECT_NEAR(exact.cores(), adaptive.cores(), 0.02) << policy << " step " << i;
    }
    EXPECT_LT(adaptive.ticks() * 4, exact.ticks()) << policy;
  }
}

TEST(BatchLimit, IsTheMachineWhereSuppressionIsOff) {
  BatchLimit limit({}, 8, Stepping::kAdaptive);
  EXPECT_DOUBLE_EQ(limit.over(0, 60, MilliCpu{1000}), 8);
}

TEST(Sums, AddUp) {
  Sums a, b;
  a.used = 1, a.evicted = 2, a.writes = 3;
  b.used = 10, b.capacity = 22, b.evicted = 1, b.unplaced = 5;
  a.add(b);
  EXPECT_DOUBLE_EQ(a.used, 11);
  EXPECT_DOUBLE_EQ(a.utilisation(), 0.5);
  EXPECT_EQ(a.evicted, 3);
  EXPECT_EQ(a.writes, 3);
  EXPECT_DOUBLE_EQ(a.unplaced, 5);
}

}  // namespace
}  // namespace mangrove::sim
