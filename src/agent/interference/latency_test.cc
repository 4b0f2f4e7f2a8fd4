#include "agent/interference/latency.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace mangrove::agent::interference {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

MonoTime at(int second) {
  return MonoTime{} + seconds(second);
}

constexpr double kAny = kInfinite;

TEST(MeanLatency, OfAllAnswersNoneCountedTooMuch) {
  EXPECT_FALSE(meanOf(stats::Buckets{}, kAny));
  EXPECT_FALSE(meanOf(std::vector<double>{}, kAny));
  EXPECT_DOUBLE_EQ(*meanOf(stats::Buckets{{1, 90}, {4, 90}, {8, 100}, {kInfinite, 100}}, kAny),
                   0.9 * 0.5 + 0.1 * 6);
  EXPECT_DOUBLE_EQ(*meanOf(stats::Buckets{{1, 90}, {4, 90}, {8, 100}}, 3), 0.9 * 0.5 + 0.1 * 3);
  // Beyond the last bound: that bound.
  EXPECT_DOUBLE_EQ(*meanOf(stats::Buckets{{8, 80}, {kInfinite, 100}}, kAny), 0.8 * 4 + 0.2 * 8);
  EXPECT_DOUBLE_EQ(*meanOf(std::vector<double>{1, 3, 50}, kAny), 18);
  EXPECT_DOUBLE_EQ(*meanOf(std::vector<double>{1, 3, 50}, 5), 3);
}

// Held to half of its time the culprit slows half of the answers down as much as before.
TEST(MeanLatency, IsHalfwayWhereEveryPercentileOfTheTailStays) {
  const stats::Buckets all{{1, 0}, {2, 1000}}, half{{1, 500}, {2, 1000}}, none{{1, 1000}};
  EXPECT_NEAR(*stats::quantileOf(all, 0.99), *stats::quantileOf(half, 0.99), 0.02);
  EXPECT_DOUBLE_EQ(*meanOf(half, kAny), (*meanOf(all, kAny) + *meanOf(none, kAny)) / 2);
}

TEST(LatencyMeter, ScrapesAreDifferences) {
  LatencyMeter meter(0.5);
  EXPECT_FALSE(meter.tail(at(0)));
  meter.scraped({{1, 1000}, {10, 1000}}, at(0));
  EXPECT_FALSE(meter.tail(at(0))) << "one reading is a sum since the service began";
  meter.scraped({{1, 1000}, {10, 1100}}, at(10));
  EXPECT_NEAR(*meter.tail(at(10)), 5.5, 1e-9) << "all new ones are between 1 and 10";
  const auto first = meter.recent(at(11), kAny);
  ASSERT_TRUE(first);
  EXPECT_NEAR(first->ms, 5.5, 1e-9);
  EXPECT_EQ(first->until, at(10)) << "when the page was read, not when somebody asks";
  EXPECT_EQ(first->length, seconds(10));
  EXPECT_FALSE(meter.recent(at(12), kAny)) << "nothing new since";
  meter.scraped({{1, 1100}, {10, 1200}}, at(13));
  EXPECT_NEAR(meter.recent(at(13), kAny)->ms, 0.5, 1e-9) << "since the scrape before only";
}

TEST(LatencyMeter, ARestartedServiceBeginsAnew) {
  LatencyMeter meter(0.5);
  meter.scraped({{1, 0}, {10, 1000}}, at(0));
  meter.scraped({{1, 5}, {10, 5}}, at(10));
  EXPECT_FALSE(meter.tail(at(10)));
  meter.scraped({{1, 15}, {10, 15}}, at(20));
  EXPECT_NEAR(*meter.tail(at(20)), 0.5, 1e-9);
}

TEST(LatencyMeter, ProbesOfTenSeconds) {
  LatencyMeter meter(1.0);
  for (int i = 0; i < 10; ++i) meter.probed(milliseconds(i == 2 ? 50 : 5), at(i));
  EXPECT_NEAR(*meter.tail(at(10)), 50, 1e-9);
  EXPECT_NEAR(meter.recent(at(9), kAny)->ms, 9.5, 1e-9);
  EXPECT_FALSE(meter.recent(at(9), kAny));
  EXPECT_NEAR(*meter.tail(at(14)), 5, 1e-9) << "the slow one is out of the window";
  EXPECT_FALSE(meter.tail(at(60)));
}

}  // namespace
}  // namespace mangrove::agent::interference
