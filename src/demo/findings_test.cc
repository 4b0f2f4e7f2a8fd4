#include "demo/findings.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "demo/day.h"
#include "demo/meter.h"

namespace mangrove::demo {
namespace {

// A machine whose conditions cost what we say: factors on all latencies, by condition.
std::vector<Block> machine(const double (&factors)[5], size_t rounds, uint64_t seed,
                           int requests = 400) {
  Rng rng(seed);
  std::vector<Block> out;
  for (size_t round = 0; round < rounds; ++round) {
    for (Condition condition : kConditions) {
      Block block;
      block.round = round;
      block.condition = condition;
      for (int i = 0; i < requests; ++i) {
        const double tail = std::pow(1 - rng.unit(), -0.3);
        block.latencies.push_back(
            static_cast<float>(tail * factors[static_cast<size_t>(condition)]));
      }
      std::sort(block.latencies.begin(), block.latencies.end());
      block.batchCores = hasBatch(condition) ? 1.6 : 0;
      block.batchUnits = condition == Condition::kMangrove ? 1500 : 1600;
      block.busyCores = 0.3 + block.batchCores;
      block.kept = keeps({}, block);
      out.push_back(std::move(block));
    }
  }
  return out;
}

TEST(Conclude, TakesTheStricterBaseline) {
  EXPECT_EQ(conclude(machine({1, 1.5, 4, 1.5, 1}, 12, 1), {.cpus = 2}).baseline, Condition::kAlone);
  EXPECT_EQ(conclude(machine({1.5, 1, 4, 1.5, 1}, 12, 1), {.cpus = 2}).baseline, Condition::kAwake);
}

TEST(Conclude, SaysWhatItCost) {
  const auto harmless = conclude(machine({1, 1.2, 4, 1.5, 1}, 12, 2, 1600), {.cpus = 2});
  EXPECT_TRUE(
      harmless.sentence.starts_with("batch got 80 % of the machine, no significant difference"))
      << harmless.sentence;
  EXPECT_NE(harmless.careless.find("the service paid"), std::string::npos) << harmless.careless;
  EXPECT_NEAR(harmless.row(Condition::kMangrove).workShare.estimate, 1500.0 / 1600, 1e-6);
  EXPECT_NEAR(harmless.row(Condition::kMangrove).cpuShare.estimate, 1, 1e-6);
  const auto bad = conclude(machine({1, 1.2, 4, 1, 2}, 12, 2), {.cpus = 2});
  EXPECT_NE(bad.sentence.find("the service paid"), std::string::npos) << bad.sentence;
}

// The way plain Kubernetes would run it is a row of its own, and what Mangrove adds to it is said also
// where that is nothing.
TEST(Conclude, SaysWhatIsGainedOverABestEffortPod) {
  const auto better = conclude(machine({1, 1.2, 4, 1.6, 1}, 12, 2, 1600), {.cpus = 2});
  EXPECT_TRUE(better.plain.starts_with("as a BestEffort pod of plain Kubernetes it got 80 %"))
      << better.plain;
  EXPECT_TRUE(better.gained.starts_with("against that pod Mangrove gained latency (p99 -"))
      << better.gained;
  EXPECT_NEAR(better.gain.ratio.estimate, 1 / 1.6, 0.08);
  const auto same = conclude(machine({1, 1.2, 4, 1, 1}, 12, 2, 1600), {.cpus = 2});
  EXPECT_NE(same.gained.find("gained no latency that could be told"), std::string::npos);
  EXPECT_NE(same.gained.find("batch got 100 % of that pod's CPU time"), std::string::npos);
  EXPECT_NE(same.gained.find("an amount"), std::string::npos);
  const auto worse = conclude(machine({1, 1.2, 4, 1, 1.6}, 12, 2, 1600), {.cpus = 2});
  EXPECT_NE(worse.gained.find("it cost some"), std::string::npos) << worse.gained;
  const auto few = conclude(machine({1, 1, 1, 1, 1}, 3, 2), {.cpus = 2});
  EXPECT_NE(few.gained.find("cannot be told"), std::string::npos) << few.gained;
}

TEST(Conclude, NoDifferenceIsSaidOnlyWhereOneWouldHaveBeenSeen) {
  stats::Effect cost;
  cost.confidence = 0.99;
  cost.pairs = 12;
  cost.ratio = {1.02, 0.97, 1.07, 12};
  cost.leastDetectable = 0.07;
  EXPECT_TRUE(costSentence(cost).starts_with("no significant difference")) << costSentence(cost);
  cost.ratio = {1.02, 0.7, 1.5, 12};
  cost.leastDetectable = 0.7;
  EXPECT_NE(costSentence(cost).find("too uncertain"), std::string::npos) << costSentence(cost);
  cost.ratio = {1.02, 0, std::numeric_limits<double>::infinity(), 5};
  cost.pairs = 5;
  EXPECT_NE(costSentence(cost).find("8 are needed"), std::string::npos) << costSentence(cost);
  cost.ratio = {1.07, 1.01, 1.18, 12};
  cost.pairs = 12;
  EXPECT_EQ(costSentence(cost), "the service paid 7.0 % p99, between 1.0 % and 18.0 %");
}

// Although the baseline is the better of two that are equally good.
TEST(Conclude, ClaimsWrongCostsRarely) {
  constexpr int kRuns = 400;
  int wrong = 0;
  for (int i = 0; i < kRuns; ++i) {
    const auto blocks = machine({1, 1, 4, 1, 1}, 12, static_cast<uint64_t>(i));
    const Condition baseline = stricterBaseline(blocks);
    wrong += costAgainst(baseline, Condition::kMangrove, blocks, 0.95).significant() ? 1 : 0;
    EXPECT_TRUE(costAgainst(baseline, Condition::kCareless, blocks, 0.95).significant());
  }
  EXPECT_LE(wrong, kRuns * 4 / 100);  // 2 of 100 are stated; chance adds one or two
}

TEST(Conclude, TooFewHoursAreSaid) {
  const auto few = conclude(machine({1, 1, 1, 1, 1}, 3, 2), {.cpus = 2});
  EXPECT_NE(few.sentence.find("cannot be told"), std::string::npos) << few.sentence;
  const auto none = conclude({}, {.cpus = 2});
  EXPECT_NE(none.sentence.find("cannot be told"), std::string::npos);
  EXPECT_FALSE(toTable(none, {}).empty());
  EXPECT_FALSE(toHtml(none, {}, {}, "").empty());
}

TEST(Conclude, ThrownAwayBlocksDoNotCount) {
  auto blocks = machine({1, 1.2, 4, 1.5, 1}, 12, 2);
  for (Block& block : blocks)
    if (block.round < 4) block.strangers = 1, block.kept = keeps({}, block);
  const auto found = conclude(blocks, {.cpus = 2});
  EXPECT_EQ(found.row(Condition::kAlone).kept, 8u);
  EXPECT_EQ(found.row(Condition::kMangrove).cost.pairs, 8u);
}

TEST(Keeps, ByTheRule) {
  Block block;
  block.latencies = {1};
  EXPECT_TRUE(keeps({}, block));
  Block steal = block, failed = block, empty = block;
  steal.steal = 0.06;
  failed.failed = 1;
  empty.latencies.clear();
  EXPECT_FALSE(keeps({}, steal));
  EXPECT_FALSE(keeps({}, failed));
  EXPECT_FALSE(keeps({}, empty));
}

TEST(Reports, HaveEveryConditionAndAskForNothing) {
  const auto blocks = machine({1, 1.2, 4, 1.5, 1}, 8, 3);
  const auto found = conclude(blocks, {.cpus = 2, .evictions = 1});
  const std::string page = toHtml(found, blocks, {}, "about");
  for (Condition condition : kConditions) {
    EXPECT_NE(page.find(nameOf(condition)), std::string::npos);
    EXPECT_NE(toTable(found, {}).find(nameOf(condition)), std::string::npos);
    EXPECT_NE(toJson(found, blocks, {}).find(wordOf(condition)), std::string::npos);
  }
  for (const std::string& text : {page, toTable(found, {})})
    for (std::string_view said : {"in the service's own group", "against that pod"})
      EXPECT_NE(text.find(said), std::string::npos) << said;
  for (std::string_view foreign : {"http://", "https://", "<script", "src=", "href="})
    EXPECT_EQ(page.find(foreign), std::string::npos) << foreign;
}

TEST(Day, HasANightAndAnAfternoon) {
  EXPECT_NEAR(rateAt(4, 400), 200, 1e-9);
  EXPECT_NEAR(rateAt(16, 400), 600, 1e-9);
  EXPECT_NEAR(hourOf(0, 12), 1, 1e-9);
  EXPECT_NEAR(hourOf(11, 12), 23, 1e-9);
}

TEST(Day, TheSameSeedIsTheSameHour) {
  const HourPlan plan{.rate = 500, .length = std::chrono::seconds(10), .seed = 4};
  const auto shots = drawShots(plan);
  const auto again = drawShots(plan);
  ASSERT_EQ(shots.size(), again.size());
  EXPECT_NEAR(static_cast<double>(shots.size()), 5000, 300);
  std::vector<double> whole;
  for (size_t i = 0; i < shots.size(); ++i) {
    EXPECT_EQ(shots[i].at, again[i].at);
    whole.push_back(shots[i].workMicros + shots[i].waitMicros);
    EXPECT_GE(shots[i].at, shots[i == 0 ? 0 : i - 1].at);
  }
  std::sort(whole.begin(), whole.end());
  EXPECT_NEAR(stats::quantile(whole, 0.5), 1000, 80);
  EXPECT_NEAR(stats::quantile(whole, 0.95), 5000, 700);
  EXPECT_NEAR(stats::quantile(whole, 0.99), 10'000, 2000);
}

TEST(Meter, WhatIsNotOursIsStrangers) {
  const Reading before{
      .at = MonoTime(std::chrono::seconds(10)), .busy = 5, .steal = 1, .pods = 2, .own = 1};
  const Reading after{
      .at = MonoTime(std::chrono::seconds(12)), .busy = 8, .steal = 1.5, .pods = 4, .own = 1.5};
  const Shares shares = sharesBetween(before, after);
  EXPECT_NEAR(shares.busy, 1.5, 1e-9);
  EXPECT_NEAR(shares.steal, 0.25, 1e-9);
  EXPECT_NEAR(shares.strangers, 0.25, 1e-9);
  EXPECT_NEAR(shares.pods, 1, 1e-9);
  EXPECT_NEAR(shares.own, 0.25, 1e-9);
  EXPECT_EQ(sharesBetween(after, after).busy, 0);
}

TEST(Meter, StealIsTheEighthFigure) {
  EXPECT_EQ(stealTicks("cpu  1 2 3 4 5 6 7 88 9 10\ncpu0 …"), 88u);
  EXPECT_EQ(stealTicks("cpu  1 2 3 4\n"), 0u);
}

}  // namespace
}  // namespace mangrove::demo
