#include "report/latency.h"

#include <cmath>

#include <gtest/gtest.h>

namespace mangrove::report {
namespace {

constexpr std::string_view kMetrics =
    "# TYPE lat histogram\n"
    "lat_bucket{route=\"/\",le=\"0.1\"} 10\n"
    "lat_bucket{route=\"/\",le=\"0.2\"} 30 1700000000000\n"
    "lat_bucket{route=\"/\",le=\"+Inf\"} 40\n"
    "lat_bucket{route=\"/slow\",le=\"0.1\"} 1\n"
    "lat_bucket{route=\"/slow\",le=\"0.2\"} 1\n"
    "lat_bucket{route=\"/slow\",le=\"+Inf\"} 100\n"
    "lat_sum 4\nlatent_bucket{le=\"1\"} 7\n";

TEST(ReadHistogram, TakesTheSeriesThatMatch) {
  auto one = readHistogram(kMetrics, "lat", "route=\"/\"");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->size(), 3u);
  EXPECT_EQ(one->at(0.2), 30);
  EXPECT_EQ(countOf(*one), 40);
  auto all = readHistogram(kMetrics, "lat", "");
  ASSERT_TRUE(all);
  EXPECT_EQ(countOf(*all), 140);
  EXPECT_FALSE(readHistogram(kMetrics, "nothing", ""));
}

TEST(Histogram, DifferenceAndQuantile) {
  const Buckets before{{0.1, 10}, {0.2, 10}, {HUGE_VAL, 10}};
  const Buckets after{{0.1, 20}, {0.2, 30}, {HUGE_VAL, 30}};
  const Buckets window = difference(after, before);
  EXPECT_EQ(window.at(0.1), 10);
  EXPECT_NEAR(*quantileOf(window, 0.5), 0.1, 1e-12);
  EXPECT_NEAR(*quantileOf(window, 0.75), 0.15, 1e-12);
  // Restarted: what it counts now is all that came.
  EXPECT_EQ(difference(before, after), before);
  EXPECT_FALSE(quantileOf({}, 0.5));
  // All beyond the last bound: nobody knows how far.
  EXPECT_EQ(*quantileOf({{0.1, 0}, {HUGE_VAL, 5}}, 0.5), 0.1);
}

TEST(LatenciesOf, EveryFormOfALine) {
  const struct {
    std::string_view lines;
    LogFormat format;
    std::vector<double> want;
  } cases[] = {
      {"{\"t\":1,\"duration_ms\": 12.5}\n{\"other\":1}\n", {.key = "duration_ms"}, {12.5}},
      {"GET / rt=0.25 ok\nGET /x rt=\"0.5\"\n", {.key = "rt", .toMillis = 1000}, {250, 500}},
      {"10.0.0.1 200 17\n10.0.0.2 200 19\n\nbroken\n", {.key = "", .field = 3}, {17, 19}},
      {"a b 3\nc 4\n", {.key = "", .field = -1}, {3, 4}},
  };
  for (const auto& c : cases) EXPECT_EQ(latenciesOf(c.lines, c.format), c.want) << c.lines;
}

TEST(ParseNumber, AllOrNothing) {
  EXPECT_EQ(parseNumber(" 1.5e3 "), 1500);
  EXPECT_TRUE(std::isinf(*parseNumber("+Inf")));
  EXPECT_FALSE(parseNumber("12ms"));
  EXPECT_FALSE(parseNumber(""));
}

}  // namespace
}  // namespace mangrove::report
