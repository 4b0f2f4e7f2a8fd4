#include "agent/interference/signals.h"

#include <gtest/gtest.h>

#include "agent/interference/cpi2.h"
#include "agent/interference/stalls.h"
#include "agent/interference/suspects.h"
#include "base/number/rng.h"

namespace mangrove::agent::interference {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using R = Resource;

TEST(CounterSample, RatiosOfOneWindow) {
  const CounterDeltas deltas{.cycles = 6e10,
                             .instructions = 3e10,
                             .cacheMisses = 9e7,
                             .stallCycles = 6e9,
                             .cpuSeconds = 20,
                             .window = seconds(10)};
  const auto sample = sampleOf(deltas);
  ASSERT_TRUE(sample);
  EXPECT_DOUBLE_EQ(sample->cpi, 2);
  EXPECT_DOUBLE_EQ(*sample->mpki, 3);
  EXPECT_DOUBLE_EQ(*sample->spki, 200);
  EXPECT_DOUBLE_EQ(sample->util, 200);
  EXPECT_DOUBLE_EQ(sample->frequency, 3000);
  for (auto spoil :
       {+[](CounterDeltas& d) { d.cpuSeconds = 2.4; },
        +[](CounterDeltas& d) { d.instructions = 0; }, +[](CounterDeltas& d) { d.counted = 0.69; },
        +[](CounterDeltas& d) { d.window = {}; }}) {
    CounterDeltas bad = deltas;
    spoil(bad);
    EXPECT_FALSE(sampleOf(bad));
  }
}

// T-IN-3.
TEST(Contention, ByTheFencesOfTheBin) {
  const SignalFences fences{1.80, 4.0, 300, 2500};
  struct Row {
    double cpi, mpki, spki;
    std::vector<Resource> what;
  };
  for (const Row& row : {Row{2.1, 5.2, 250, {R::kCache}},
                         {2.1, 3.0, 250, {R::kUnknown}},
                         {1.7, 9.0, 900, {}},
                         {2.1, 5.2, 400, {R::kCache, R::kBandwidth}},
                         {2.1, 3.0, 400, {R::kBandwidth}}})
    EXPECT_EQ(contentionOf({row.cpi, row.mpki, row.spki, 200, 3000}, fences, 4), row.what);
  EXPECT_EQ(contentionOf({1.5, 1, 1, 390, 2400}, fences, 4), std::vector<R>{R::kPower});
  EXPECT_TRUE(contentionOf({1.5, 1, 1, 370, 2400}, fences, 4).empty()) << "not at full load";
  EXPECT_TRUE(contentionOf({9, 9, 900, 390, 10}, {}, 4).empty()) << "no fences yet";
}

TEST(Contention, HoldsInTwoOfThreePeriods) {
  TwoOfThree repeats;
  const bool seen[] = {true, false, true, false, false, true, true};
  const bool held[] = {false, false, true, false, false, false, true};
  for (size_t i = 0; i < std::size(seen); ++i) EXPECT_EQ(repeats.add(seen[i]), held[i]) << i;
}

TEST(ResourceNames, ThereAndBack) {
  for (int i = 0; i <= static_cast<int>(R::kUnknown); ++i)
    EXPECT_EQ(resourceNamed(resourceName(static_cast<R>(i))), static_cast<R>(i));
  EXPECT_FALSE(resourceNamed("gpu"));
}

TEST(OfflineFit, TellsOwnWorkFromOfflineWork) {
  Rng rng(4);
  std::vector<OfflineSample> samples;
  for (int i = 0; i < 400; ++i) {
    const double cycles = 1e9 * (1 + rng.unit()), offline = 16 * rng.unit();
    samples.push_back(
        {cycles, offline, 1.0 + 2e-10 * cycles + 0.05 * offline + 0.02 * (rng.unit() - 0.5)});
  }
  const OfflineFit fit = fitOffline(samples);
  EXPECT_TRUE(fit.usable());
  EXPECT_NEAR(fit.alone(1.5e9), 1.3, 0.02);
  EXPECT_NEAR(fit.perOffline, 0.05, 0.002);
  EXPECT_NEAR(fit.attributed({1.5e9, 10, 1.8}), 1, 0.03);
  EXPECT_NEAR(fit.attributed({1.5e9, 5, 1.8}), 0.5, 0.03);
  EXPECT_EQ(fit.attributed({1.5e9, 10, 1.0}), 0);
  EXPECT_FALSE(fitOffline(std::span(samples).first(100)).usable());
}

// T-IN-4.
TEST(Cpi2, Correlation) {
  const CpiSpec spec{1.80, 0.16};
  EXPECT_NEAR(spec.threshold(), 2.12, 1e-9);
  const std::vector<double> victim{1.9, 1.8, 3.2, 3.6, 3.4, 1.9, 3.5, 3.3, 1.8, 1.9};
  struct Row {
    std::vector<double> use;
    double correlation;
  };
  for (const Row& row : {Row{{.1, .1, 4, 5, 4.5, .1, 5, 4, .1, .1}, 0.3670},
                         {std::vector<double>(10, 2.0), 0.1264},
                         {{4, 4, .1, .1, .1, 4, .1, .1, 4, 4}, -0.1105},
                         {std::vector<double>(10, 0.0), 0}})
    EXPECT_NEAR(correlation(spec.threshold(), victim, row.use), row.correlation, 5e-5);
  EXPECT_GE(0.3670, kAntagonistCorrelation);
  EXPECT_LT(0.1264, kSensitiveCorrelation);
}

TEST(Cpi2, OutliersAndAnomalies) {
  const CpiSpec spec{1.8, 0.1};
  EXPECT_TRUE(isOutlier(2.01, spec, 0.25));
  EXPECT_FALSE(isOutlier(2.0, spec, 1));
  EXPECT_FALSE(isOutlier(9, spec, 0.24)) << "it hardly works";
  OutlierWindow window;
  MonoTime now{};
  EXPECT_FALSE(window.add(now, true));
  EXPECT_FALSE(window.add(now + seconds(60), true));
  EXPECT_FALSE(window.add(now + seconds(120), false));
  EXPECT_TRUE(window.add(now + seconds(180), true));
  EXPECT_FALSE(window.add(now + seconds(400), false)) << "the first ones are too long ago";
}

TEST(Cpi2, SpecsAgeAndAreLearned) {
  const CpiSpec one = blended({2, 0.2}, 1, {1, 0.1});
  EXPECT_NEAR(one.mean, (0.9 * 2 + 1) / 1.9, 1e-12);
  OwnSpec own;
  for (int i = 0; i < 59; ++i) own.add(1.8 + (i % 2 ? 0.1 : -0.1), 1);
  EXPECT_FALSE(own.spec());
  own.add(1.8, 1);
  ASSERT_TRUE(own.spec());
  const double before = own.spec()->mean;
  own.add(9, 1);
  EXPECT_EQ(own.spec()->mean, before) << "outliers are left out";
}

// T-IN-5.
TEST(Stalls, OwnLimitsAreNobodyElsesDoing) {
  EXPECT_TRUE(isOwnThrottling(milliseconds(2200), milliseconds(1600)));
  EXPECT_FALSE(isOwnThrottling(milliseconds(2200), milliseconds(1000)));
  EXPECT_FALSE(isOwnThrottling({}, {}));
  EXPECT_TRUE(isAtOwnLimit(Bytes{98}, Bytes{100}));
  EXPECT_FALSE(isAtOwnLimit(Bytes{97}, Bytes{100}));
  EXPECT_FALSE(isAtOwnLimit(Bytes{97}, Bytes{0}));
  Stalls stalls;
  stalls.cpu = 22;
  stalls.cpuStalled = milliseconds(2200);
  stalls.throttled = milliseconds(1600);
  const StallVerdict verdict = judgeStalls(stalls, {});
  EXPECT_EQ(verdict.grade, Grade::kCalm);
  EXPECT_TRUE(verdict.own) << "CPU burst is asked instead";
  stalls.io = 31;
  EXPECT_EQ(judgeStalls(stalls, {}).resource, R::kIo) << "the disks are another matter";
}

TEST(Stalls, TheWorstSignalDecides) {
  struct Row {
    Stalls stalls;
    Grade grade;
    Resource resource;
  };
  for (const Row& row : {Row{{}, Grade::kCalm, R::kUnknown},
                         {{.cpu = 4.9}, Grade::kCalm, R::kCpu},
                         {{.cpu = 5}, Grade::kWarn, R::kCpu},
                         {{.cpu = 15}, Grade::kAct, R::kCpu},
                         {{.cpu = 16, .memorySome = 40}, Grade::kAct, R::kMemory},
                         {{.memorySome = 3, .memoryFull = 4}, Grade::kAct, R::kMemory},
                         {{.io = 12}, Grade::kWarn, R::kIo},
                         {{.queue = 30, .queueUsual = 5}, Grade::kAct, R::kCpu},
                         {{.queue = 19, .queueUsual = 1}, Grade::kWarn, R::kCpu},
                         {{.queue = 500}, Grade::kCalm, R::kUnknown},
                         {{.latencyPercent = 101}, Grade::kAct, R::kUnknown}}) {
    const StallVerdict verdict = judgeStalls(row.stalls, {});
    EXPECT_EQ(verdict.grade, row.grade);
    if (row.grade != Grade::kCalm) {
      EXPECT_EQ(verdict.resource, row.resource);
    }
  }
}

TEST(Stalls, CountOnceTheyLast) {
  Held held;
  MonoTime now{};
  EXPECT_EQ(held.over(Grade::kAct, now, seconds(10)), Grade::kCalm);
  EXPECT_EQ(held.over(Grade::kWarn, now + seconds(5), seconds(10)), Grade::kCalm);
  EXPECT_EQ(held.over(Grade::kAct, now + seconds(10), seconds(10)), Grade::kWarn);
  EXPECT_EQ(held.over(Grade::kAct, now + seconds(20), seconds(10)), Grade::kAct);
  EXPECT_EQ(held.over(Grade::kCalm, now + seconds(21), seconds(10)), Grade::kCalm);
}

TEST(Unusual, KnowsTenSamplesBeforeItSpeaks) {
  Unusual early, late;
  for (int i = 0; i < 9; ++i) early.add(1 + 0.01 * (i % 3));
  EXPECT_FALSE(early.add(50));
  for (int i = 0; i < 30; ++i) late.add(1 + 0.01 * (i % 3));
  EXPECT_FALSE(late.add(1.02));
  EXPECT_TRUE(late.add(1.2));
}

TEST(Severity, ByClassExcessAndEvidence) {
  using api::PriorityBand;
  using api::Qos;
  EXPECT_DOUBLE_EQ(severityOf(Qos::kLse, PriorityBand::kProd, 3, 2, Evidence::kCounters), 2);
  EXPECT_DOUBLE_EQ(severityOf(Qos::kLsr, PriorityBand::kProd, 3, 2, Evidence::kRegression), 1.5);
  EXPECT_DOUBLE_EQ(severityOf(Qos::kLs, PriorityBand::kProd, 3, 2, Evidence::kPressure), 0.7);
  EXPECT_DOUBLE_EQ(severityOf(Qos::kLs, PriorityBand::kMid, 3, 2, Evidence::kLatency), 0.25);
  EXPECT_TRUE(isSevere(4.1, 2));
  EXPECT_FALSE(isSevere(4, 2));
}

TEST(Suspects, ScoresAndOrder) {
  const Suspect old{
      .uid = "old", .rank = 2, .running = std::chrono::hours(1), .correlation = 0.6, .share = 0.5};
  EXPECT_NEAR(scoreOf(old), 0.45, 1e-12);
  Suspect fresh = old;
  fresh.uid = "fresh";
  fresh.running = std::chrono::minutes(3);
  EXPECT_NEAR(scoreOf(fresh), 0.45 + 0.2 * 0.8, 1e-12);
  Suspect near = old;
  near.nearness = Nearness::kSibling;
  EXPECT_NEAR(scoreOf(near), 0.675, 1e-12);
  near.share = 1;
  near.correlation = 1;
  EXPECT_EQ(scoreOf(near), 1) << "capped";
  Suspect against = old;
  against.correlation = -0.5;
  EXPECT_NEAR(scoreOf(against), 0.15, 1e-12);
  Suspect lower = against;
  lower.uid = "lower";
  lower.rank = 1;
  const std::vector<Suspect> all{old, fresh, against, lower};
  const auto calm = rankSuspects(all, false);
  ASSERT_EQ(calm.size(), 2u);
  EXPECT_EQ(calm[0].suspect.uid, "fresh");
  const auto emergency = rankSuspects(all, true);
  ASSERT_EQ(emergency.size(), 4u);
  EXPECT_EQ(emergency[0].suspect.uid, "lower") << "the lowest class first";
}

}  // namespace
}  // namespace mangrove::agent::interference
