#include "client/queue/token_bucket.h"

#include <gtest/gtest.h>

namespace mangrove::client {
namespace {

using namespace std::chrono_literals;

MonoTime at(Duration sinceStart) {
  return MonoTime{} + 1h + sinceStart;
}

TEST(TokenBucket, startsFullAndRefillsAtItsRate) {
  TokenBucket bucket(10, 3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.tryTake(at(0s))) << i;
  EXPECT_FALSE(bucket.tryTake(at(0s)));
  EXPECT_EQ(bucket.untilNext(at(0s)), 100ms);
  EXPECT_FALSE(bucket.tryTake(at(99ms)));
  EXPECT_TRUE(bucket.tryTake(at(100ms)));
  EXPECT_FALSE(bucket.tryTake(at(100ms)));
}

TEST(TokenBucket, neverHoldsMoreThanItsBurst) {
  TokenBucket bucket(10, 3);
  EXPECT_TRUE(bucket.tryTake(at(0s)));
  EXPECT_DOUBLE_EQ(bucket.tokens(at(1h)), 3);
}

TEST(TokenBucket, reservationsQueueUpOneAfterTheOther) {
  TokenBucket bucket(2, 1);
  EXPECT_EQ(bucket.reserve(at(0s)), 0s);
  EXPECT_EQ(bucket.reserve(at(0s)), 500ms);
  EXPECT_EQ(bucket.reserve(at(0s)), 1000ms);
  EXPECT_EQ(bucket.reserve(at(250ms)), 1250ms);
  EXPECT_EQ(bucket.reserve(at(10s)), 0s);
}

TEST(TokenBucket, aClockThatStepsBackGivesNothing) {
  TokenBucket bucket(1, 1);
  EXPECT_TRUE(bucket.tryTake(at(10s)));
  EXPECT_FALSE(bucket.tryTake(at(5s)));
  EXPECT_TRUE(bucket.tryTake(at(11s)));
}

TEST(TokenBucket, zeroRateMeansUnlimited) {
  TokenBucket bucket(0, 0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(bucket.reserve(at(0s)), 0s);
  EXPECT_TRUE(bucket.tryTake(at(0s)));
}

}  // namespace
}  // namespace mangrove::client
