// The experiment: its timing, what is thrown away and its verdicts. How often these are right:
// agent/bench/interference_sim_test.cc.
#include "agent/interference/proof.h"

#include <algorithm>
#include <deque>
#include <functional>

#include <gtest/gtest.h>

#include "json/value.h"

namespace mangrove::agent::interference {
namespace {

using std::chrono::seconds;
using V = Verdict::Kind;

// Runs a series to its end; `victim` says what the service shows, given whether the suspect is held.
template <class Victim>
Verdict runSeries(Series& series, Victim victim) {
  bool held = false;
  MonoTime now{};
  for (int tick = 0; tick < 2000 && !series.isDone(); ++tick, now += seconds(1)) {
    SeriesSample sample = victim(held, tick);
    held = series.step(now, sample).throttle;
  }
  return series.verdict();
}

SeriesSample plain(double signal, bool held) {
  return {.victim = signal, .victimLoad = 2, .suspectUse = held ? 1.0 : 2.0};
}

TEST(Judge, VerdictsByTheIntervalAlone) {
  const auto pairs = [](std::initializer_list<double> differences) {
    std::vector<Pair> out;
    for (double d : differences) out.push_back({2 + d, 2});
    return out;
  };
  struct Row {
    std::vector<Pair> kept;
    double excess;
    V kind;
  };
  for (const Row& row :
       {Row{pairs({.3, .31, .29, .33, .3, .28, .32, .3}), 0.5, V::kGuilty},
        {pairs({.01, -.01, .005, -.004, .002, -.008, .009, -.002}), 0.5, V::kInnocent},
        {pairs({.01, .011, .009, .012, .01, .013, .011, .01}), 0.5, V::kInnocent},
        {pairs({.6, -.5, .4, -.3, .7, -.2, .5, -.1}), 0.5, V::kNotKnown},
        {pairs({.3, .31, .29, .33}), 0.5, V::kNotKnown},
        {pairs({-.3, -.31, -.29, -.33, -.3, -.28, -.32, -.3}), 0.5, V::kInnocent}}) {
    const Verdict verdict = judge(row.kept, {.pairs = 8}, row.excess);
    EXPECT_EQ(verdict.kind, row.kind) << verdict.text();
  }
  const Verdict guilty = judge(pairs({.3, .31, .29, .33, .3, .28, .32, .3}), {.pairs = 8}, 0.5);
  EXPECT_NEAR(guilty.effect, 0.30, 0.02) << "half of it was held back: the whole adds twice that";
  EXPECT_LT(guilty.low, guilty.effect);
  EXPECT_GT(guilty.high, guilty.effect);
  EXPECT_NE(guilty.text().find("guilty: +3"), std::string::npos) << guilty.text();
}

// Three pairs can never be enough, whatever they show; five can.
TEST(Judge, FewerThanFivePairsProveNothing) {
  EXPECT_NE(troubleOf({.pairs = 3}), "");
  EXPECT_EQ(troubleOf({.pairs = 5, .confidence = 0.9}), "");
  EXPECT_EQ(troubleOf({}), "");
  const std::vector<Pair> five(5, {3, 2});
  EXPECT_EQ(judge(five, {.pairs = 5, .confidence = 0.90}, 0.5).kind, V::kGuilty);
  EXPECT_EQ(judge(five, {.pairs = 5, .confidence = 0.95}, 0.5).kind, V::kNotKnown);
}

TEST(Series, HoldsInShortPiecesInRandomOrder) {
  Series series({}, 7, 0.5);
  int held = 0, longest = 0, run = 0, ticks = 0;
  runSeries(series, [&](bool on, int) {
    ++ticks;
    held += on;
    run = on ? run + 1 : 0;
    longest = std::max(longest, run);
    return plain(2, on);
  });
  EXPECT_EQ(series.kept(), 10u);
  EXPECT_EQ(held, 10 * 3) << "three seconds a pair";
  EXPECT_EQ(longest, 3);
  EXPECT_LE(ticks, 10 * 13);
}

TEST(Series, AlwaysGivesBackAtTheEnd) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Series series({}, seed, 0.5);
    MonoTime now{};
    Series::Step step;
    bool on = false;
    while (!step.done) {
      step = series.step(now, plain(2, on));
      on = step.throttle;
      now += seconds(1);
    }
    EXPECT_FALSE(on);
    EXPECT_FALSE(series.step(now, plain(2, false)).throttle);
  }
}

TEST(Series, ThrowsPairsAwayByRulesFixedBefore) {
  struct Row {
    std::function<void(SeriesSample&, bool held)> spoil;
    Discard reason;
  };
  for (const Row& row :
       {Row{[](SeriesSample& s, bool) { s.foreign = true; }, Discard::kForeign},
        {[](SeriesSample& s, bool held) { s.suspectUse = held ? 0.01 : 2; }, Discard::kIdleSuspect},
        {[](SeriesSample& s, bool held) { s.victimLoad = held ? 1 : 4; }, Discard::kLoadChanged},
        {[](SeriesSample& s, bool) { s.victim.reset(); }, Discard::kNotMeasured}}) {
    Series series({}, 3, 0.5);
    const Verdict verdict = runSeries(series, [&](bool held, int) {
      SeriesSample sample = plain(held ? 1.0 : 3.0, held);
      row.spoil(sample, held);
      return sample;
    });
    EXPECT_EQ(series.lastDiscard(), row.reason);
    EXPECT_EQ(series.kept(), 0u);
    EXPECT_EQ(series.discarded(), 20u) << "it ends all the same";
    EXPECT_EQ(verdict.kind, V::kNotKnown);
  }
}

TEST(Series, WaitsForTheSuspectToWorkButNotForever) {
  Series series({}, 3, 0.5, 2);
  int held = 0;
  runSeries(series, [&](bool on, int tick) {
    held += on;
    SeriesSample sample = plain(on ? 1.8 : 2.2, on);
    if (tick < 300) sample.suspectUse = 0.8;  // of 2 that it used when it was named
    if (tick == 299) {
      EXPECT_EQ(held, 0);
    }
    return sample;
  });
  EXPECT_EQ(series.kept(), 10u);
  Series never({}, 3, 0.5, 2);
  const Verdict verdict = runSeries(never, [&](bool on, int) {
    SeriesSample sample = plain(2, on);
    sample.suspectUse = 0;
    return sample;
  });
  EXPECT_TRUE(never.isDone());
  EXPECT_NE(verdict.text().find("stopped working"), std::string::npos) << verdict.text();
}

TEST(Series, EndsAtOnceWhenTheServiceSuffersOtherwise) {
  Series series({}, 3, 0.5);
  const Verdict verdict = runSeries(series, [&](bool held, int tick) {
    SeriesSample sample = plain(held ? 1.0 : 3.0, held);
    sample.suffers = tick == 20;
    return sample;
  });
  EXPECT_EQ(verdict.kind, V::kNotKnown);
  EXPECT_TRUE(series.isDone());
  EXPECT_FALSE(series.step(MonoTime{} + seconds(30), plain(1, false)).throttle);
}

TEST(Series, KeepsFinishedPairsAfterAKill) {
  Series series({}, 3, 0.5);
  MonoTime now{};
  bool held = false;
  while (series.kept() < 4) {
    held = series.step(now, plain(held ? 1.8 : 2.2, held)).throttle;
    now += seconds(1);
  }
  Series next({}, 99, 0.5);
  next.restore(series.state());
  EXPECT_EQ(next.kept(), 4u);
  const Verdict verdict =
      runSeries(next, [](bool on, int tick) { return plain((on ? 1.8 : 2.2) + tick * 1e-6, on); });
  EXPECT_EQ(verdict.kind, V::kGuilty) << verdict.text();
  Series bad({}, 1, 0.5);
  for (const char* text : {"null", "[]", "{}", R"({"pairs":[[1]],"tried":1})"})
    bad.restore(json::parse(text).value());
  EXPECT_EQ(bad.kept(), 0u);
}

// What the page says is here a second later; what it is of decides to which half it belongs.
TEST(Series, PutsALateMeasurementWhereItBelongs) {
  for (const int late : {0, 1, 2}) {
    Series series({}, 3, 0.5);
    std::deque<bool> held(4, false);
    const Verdict verdict = runSeries(series, [&](bool on, int) {
      held.push_back(on);
      SeriesSample sample =
          plain(held[held.size() - 1 - static_cast<size_t>(late)] ? 1.8 : 2.2, on);
      sample.age = seconds(late);
      return sample;
    });
    EXPECT_EQ(series.kept(), 10u) << late;
    EXPECT_NEAR(verdict.effect, 0.8 / 1.8, 1e-6) << late << " s late";
  }
}

TEST(Series, LeavesOutWhatIsOfBothHalves) {
  Series series({}, 3, 0.5);
  runSeries(series, [&](bool on, int) {
    SeriesSample sample = plain(2, on);
    sample.length = seconds(10);
    return sample;
  });
  EXPECT_EQ(series.kept(), 0u);
  EXPECT_EQ(series.lastDiscard(), Discard::kNotMeasured);
}

}  // namespace
}  // namespace mangrove::agent::interference
