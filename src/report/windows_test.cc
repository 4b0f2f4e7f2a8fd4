#include "report/windows.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "report/latency.h"
#include "report/page.h"

namespace mangrove::report {
namespace {

// A service that shows its latencies in a histogram with coarse buckets (a quarter apart).
class Shown {
 public:
  explicit Shown(uint64_t seed) : rng_(seed) {}
  Window window(size_t pair, Arm arm, double factor) {
    drift_ = 0.9 * drift_ + 0.05 * normal();
    const double level = std::exp(drift_) * (arm == Arm::kOn ? factor : 1);
    Buckets buckets;
    for (double bound = 0.1; bound < 400; bound *= 1.25) buckets[bound] = 0;
    for (int i = 0; i < 400; ++i) {
      const auto bucket = buckets.lower_bound(latency() * level);
      if (bucket != buckets.end()) ++bucket->second;
    }
    double below = 0;
    for (auto& [bound, count] : buckets) below = count += below;
    return {.place = "n1",
            .pair = pair,
            .arm = arm,
            .requests = 400,
            .p50 = *quantileOf(buckets, 0.5),
            .p99 = *quantileOf(buckets, 0.99)};
  }

 private:
  double normal() {
    return std::sqrt(-2 * std::log(1 - rng_.unit())) * std::cos(2 * M_PI * rng_.unit());
  }
  double latency() {
    return rng_.chance(0.02) ? 3 * std::pow(1 - rng_.unit(), -0.5) : std::exp(0.5 * normal());
  }
  Rng rng_;
  double drift_ = 0;
};

std::vector<Window> experiment(double factor, size_t pairs, uint64_t seed) {
  Shown service(seed);
  std::vector<Window> out;
  const auto plan = planWindows(1, pairs, seed + 1);
  for (size_t pair = 0; pair < pairs; ++pair)
    for (bool on : {plan[pair][0], !plan[pair][0]})
      out.push_back(service.window(pair, on ? Arm::kOn : Arm::kOff, factor));
  return out;
}

// The whole way: lot, windows, histogram, file, comparison. 200 experiments an effect; chance alone
// moves 95 % by 1.5 points.
TEST(CompareWindows, KeepsItsPromises) {
  constexpr int kRuns = 200;
  for (double added : {0.0, 0.03, 0.1, 0.5}) {
    int covered = 0, claimed = 0;
    for (int run = 0; run < kRuns; ++run) {
      const auto seed = static_cast<uint64_t>(run * 31 + std::lround(1000 * added));
      auto windows = fromCsv(toCsv(experiment(1 + added, 20, seed)));
      ASSERT_TRUE(windows);
      const auto effect = compareWindows(*windows, {}).p99;
      covered += effect.ratio.low <= 1 + added && 1 + added <= effect.ratio.high ? 1 : 0;
      claimed += effect.significant() ? 1 : 0;
    }
    EXPECT_GE(covered, kRuns * 0.95 - 9) << added;
    if (added == 0) {
      EXPECT_LE(claimed, kRuns * 0.05 + 9);
    }
    RecordProperty("added" + std::to_string(std::lround(100 * added)),
                   std::to_string(covered) + " covered, " + std::to_string(claimed) + " claimed");
  }
}

TEST(PlanWindows, IsDrawnForEveryPairAndPlace) {
  const auto plan = planWindows(3, 200, 7);
  ASSERT_EQ(plan.size(), 200u);
  for (size_t place = 0; place < 3; ++place) {
    const auto on =
        std::count_if(plan.begin(), plan.end(), [&](const auto& p) { return p[place]; });
    EXPECT_GT(on, 70);
    EXPECT_LT(on, 130);
  }
  EXPECT_EQ(planWindows(3, 200, 7), plan);
  EXPECT_NE(planWindows(3, 200, 8), plan);
}

TEST(CompareWindows, LeavesOutWhatCannotBeCompared) {
  auto windows = experiment(1.5, 10, 3);
  windows[0].requests = 20;
  windows.push_back(
      {.place = "n2", .pair = 0, .arm = Arm::kOn, .requests = 500, .p50 = 1, .p99 = 2});
  const Comparison c = compareWindows(windows, {});
  EXPECT_EQ(c.p99.pairs, 9u);
  EXPECT_EQ(c.leftOut, 3u);
  EXPECT_NE(toTable(c).find("21, 3 of them left out"), std::string::npos) << toTable(c);
}

TEST(CompareWindows, ReplicasCountNeighboursOnce) {
  auto windows = experiment(1, 60, 4);
  EXPECT_EQ(compareWindows(windows, {.design = Design::kReplicas}).p99.pairs, 12u);
  EXPECT_EQ(compareWindows(windows, {}).p99.pairs, 60u);
}

TEST(CompareWindows, SaysWhatBatchGot) {
  auto windows = experiment(1, 8, 5);
  for (Window& w : windows) w.batchCores = w.arm == Arm::kOn ? 1.5 : 0.25;
  const Comparison c = compareWindows(windows, {});
  EXPECT_NE(toTable(c).find("1.50 cores while on, 0.25 while off"), std::string::npos);
}

TEST(Sentences, SayWhatTheIntervalAllows) {
  const struct {
    std::vector<double> ratios;
    std::string_view want;
  } cases[] = {
      {{.1, .1}, "cannot be told from 2 pairs"},
      {{.1, -.1, .2, -.2, .05, -.05, .3, -.3}, "no significant difference"},
      {{.1, .11, .12, .13, .14, .15}, "slower while on, +13.3 % [+10.5, +16.2]"},
      {{-.1, -.11, -.12, -.13, -.14, -.15}, "faster while on"},
  };
  for (const auto& c : cases) {
    const auto said = effectSentence("p99", stats::pairedEffect(c.ratios, 0.95));
    EXPECT_NE(said.find(c.want), std::string::npos) << said;
  }
}

TEST(Csv, WrongLinesAreNamed) {
  EXPECT_FALSE(fromCsv("n1,0,sideways,1,2,3\n"));
  EXPECT_FALSE(fromCsv("n1,0,on\n"));
  EXPECT_FALSE(fromCsv("n1,0,on,5,x,3\n"));
  EXPECT_TRUE(fromCsv("")->empty());
}

TEST(Page, IsOneFileThatAsksForNothing) {
  const auto windows = experiment(1.2, 8, 6);
  const std::string page = toHtml(compareWindows(windows, {}), windows, "a <b> & \"c\"");
  EXPECT_NE(page.find("a &lt;b&gt; &amp; &quot;c&quot;"), std::string::npos);
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme:dark"), std::string::npos);
  for (std::string_view foreign : {"http://", "https://", "<script", "src=", "href=", "url("})
    EXPECT_EQ(page.find(foreign), std::string::npos) << foreign;
}

TEST(Charts, NothingIsDrawnFromNothing) {
  EXPECT_EQ(lineChart({}), "");
  EXPECT_EQ(intervalChart({}), "");
  // Infinite ends are cut at the edge, not written as text.
  const std::string svg = intervalChart({.bars = {{"a", 0, {1, 0.5, HUGE_VAL, 3}}}});
  EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
}

}  // namespace
}  // namespace mangrove::report
