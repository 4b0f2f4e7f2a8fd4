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

TEST(TailMean, OfTheSlowestTenth) {
  EXPECT_FALSE(tailMeanOf(stats::Buckets{}, 0.9));
  EXPECT_FALSE(tailMeanOf(std::vector<double>{}, 0.9));
  // 90 below 1 ms, 10 between 4 and 8: these.
  EXPECT_DOUBLE_EQ(*tailMeanOf(stats::Buckets{{1, 90}, {4, 90}, {8, 100}, {kInfinite, 100}}, 0.9),
                   6);
  // The upper half of 20 evenly between 0 and 2.
  EXPECT_DOUBLE_EQ(*tailMeanOf(stats::Buckets{{2, 20}}, 0.5), 1.5);
  // Beyond the last bound: that bound.
  EXPECT_DOUBLE_EQ(*tailMeanOf(stats::Buckets{{1, 80}, {8, 80}, {kInfinite, 100}}, 0.9), 8);
  EXPECT_DOUBLE_EQ(*tailMeanOf(std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1, 1, 9}, 0.9), 9);
  EXPECT_DOUBLE_EQ(*tailMeanOf(std::vector<double>{3}, 0.9), 3);
}

TEST(LatencyMeter, ScrapesAreDifferences) {
  LatencyMeter meter(0.5);
  EXPECT_FALSE(meter.tail(at(0)));
  meter.scraped({{1, 1000}, {10, 1000}}, at(0));
  EXPECT_FALSE(meter.tail(at(0))) << "one reading is a sum since the service began";
  meter.scraped({{1, 1000}, {10, 1100}}, at(10));
  EXPECT_NEAR(*meter.tail(at(10)), 5.5, 1e-9) << "all new ones are between 1 and 10";
  EXPECT_NEAR(*meter.slowest(at(10)), 9.55, 1e-9);
  EXPECT_FALSE(meter.slowest(at(11))) << "nothing new since";
  meter.scraped({{1, 1100}, {10, 1200}}, at(12));
  EXPECT_NEAR(*meter.slowest(at(12)), 0.95, 1e-9) << "since the scrape before only";
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
  EXPECT_NEAR(*meter.slowest(at(9)), 50, 1e-9);
  EXPECT_FALSE(meter.slowest(at(9)));
  EXPECT_NEAR(*meter.tail(at(14)), 5, 1e-9) << "the slow one is out of the window";
  EXPECT_FALSE(meter.tail(at(60)));
}

}  // namespace
}  // namespace mangrove::agent::interference
