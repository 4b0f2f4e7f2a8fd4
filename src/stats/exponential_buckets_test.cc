#include "stats/exponential_buckets.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "stats/decaying_histogram.h"

namespace mangrove::stats {
namespace {

const ExponentialBuckets kCpu = cpuHistogram().buckets;
const ExponentialBuckets kMemory = memoryHistogram().buckets;

TEST(ExponentialBuckets, CountIsThatOfTheReference) {
  EXPECT_EQ(kCpu.count(), 158u);
  EXPECT_EQ(kMemory.count(), 205u);
}

TEST(ExponentialBuckets, StartsFollowTheFormula) {
  EXPECT_EQ(kCpu.start(0), 0);
  EXPECT_NEAR(kCpu.start(1), 0.025, 1e-12);
  EXPECT_NEAR(kCpu.start(2), 0.05125, 1e-12);
  EXPECT_NEAR(kCpu.start(157), 1060.437886026174, 1e-6);
  EXPECT_NEAR(kMemory.start(100), 13684048694.744553, 1);
}

TEST(ExponentialBuckets, FindsTheBucketOfAnyNumber) {
  struct Row {
    double value;
    size_t bucket;
  };
  const double inf = std::numeric_limits<double>::infinity();
  for (auto [value, bucket] : {Row{0, 0},
                               {-3, 0},
                               {std::nan(""), 0},
                               {0.0249, 0},
                               {0.025, 1},
                               {0.043, 1},
                               {196.1, 122},
                               {1e6, 157},
                               {inf, 157},
                               {-inf, 0}})
    EXPECT_EQ(kCpu.find(value), bucket) << value;
}

TEST(ExponentialBuckets, EachBucketHoldsItsMiddle) {
  for (const auto& buckets : {kCpu, kMemory})
    for (size_t n = 0; n + 1 < buckets.count(); ++n)
      EXPECT_EQ(buckets.find((buckets.start(n) + buckets.start(n + 1)) / 2), n);
}

}  // namespace
}  // namespace mangrove::stats
