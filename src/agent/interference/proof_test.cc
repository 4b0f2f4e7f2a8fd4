// The experiment: its timing, what is thrown away, its verdicts, and how often they are right.
#include "agent/interference/proof.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "agent/interference/cpi2.h"
#include "base/testing/size.h"
#include "json/value.h"

namespace mangrove::agent::interference {
namespace {

using std::chrono::seconds;
using V = Verdict::Kind;

double normal(Rng& rng) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += rng.unit();
  return sum - 6;
}

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

// ---- 400 cases on simulated signals ----------------------------------------------------------
// A service whose signal wanders (its own load, an hour's drift), stutters now and then, and rises
// with what the antagonists beside it use. Suspects are guilty ones; decoys that work exactly when an
// antagonist does; decoys that follow the service's own load; and neighbours that just work.

enum class Role { kGuilty, kShadow, kFollower, kNeighbour };

class World {
 public:
  World(uint64_t seed, Role role) : rng_(seed), role_(role) {
    effect_ = 0.10 + 0.40 * rng_.unit();  // what full use adds: guilty from +10 % on
    noise_ = 0.02 + 0.05 * rng_.unit();
    period_ = 60 + 120 * rng_.unit();
    other_ = role == Role::kGuilty ? rng_.unit() * 0.5 : 1;  // somebody else hurts as well
  }

  // A second passes.
  void tick(bool held) {
    ++second_;
    wander_ = 0.7 * wander_ + noise_ * normal(rng_);
    load_ = 2 + 0.5 * std::sin(2 * 3.14159 * second_ / 900) + 0.05 * normal(rng_);
    if (rng_.chance(1.0 / 30)) busy_ = !busy_;
    const double antagonist = busy_ ? 1 : 0.15;
    use_ = std::clamp(useOf(antagonist), 0.0, 1.0) * (held ? 0.5 : 1);
    const double hurt = role_ == Role::kGuilty ? use_ + other_ * 0.3 : antagonist;
    const double spike = rng_.chance(0.01) ? 0.5 : 0;
    signal_ = 1.8 * (1 + 0.05 * (load_ - 2) + effect_ * hurt + wander_ + spike);
  }

  double signal() const { return signal_; }
  double use() const { return 4 * use_; }
  double load() const { return load_; }
  double effect() const { return effect_; }

 private:
  double useOf(double antagonist) {
    switch (role_) {
      case Role::kGuilty:
      case Role::kShadow:
        return antagonist + 0.05 * normal(rng_);
      case Role::kFollower:
        return 0.2 + 0.5 * (load_ - 1.4) + 0.05 * normal(rng_);
      case Role::kNeighbour:
        return 0.6 + 0.2 * normal(rng_);
    }
    return 0;
  }

  Rng rng_;
  Role role_;
  double effect_ = 0, noise_ = 0, period_ = 0, other_ = 0;
  double wander_ = 0, load_ = 2, use_ = 0, signal_ = 1.8;
  bool busy_ = true;
  int second_ = 0;
};

struct Score {
  int right = 0, wrong = 0, missed = 0;
  double precision() const { return right + wrong > 0 ? double(right) / (right + wrong) : 1; }
  double recall() const { return right + missed > 0 ? double(right) / (right + missed) : 1; }
  void count(bool guilty, bool accused) {
    right += guilty && accused;
    wrong += !guilty && accused;
    missed += guilty && !accused;
  }
};

constexpr double kFence = 1.9;

double correlationIn(World& world) {
  std::vector<double> signal, use;
  for (int i = 0; i < 600; ++i) {
    world.tick(false);
    if (i % 10 != 0) continue;
    signal.push_back(world.signal());
    use.push_back(world.use());
  }
  while (world.signal() < kFence || world.use() < 1) world.tick(false);  // that is when one asks
  return correlation(kFence, signal, use);
}

Verdict experimentOn(World& world, uint64_t seed) {
  Series series({}, seed, 1.8 * world.effect() * 0.5, world.use());
  return runSeries(series, [&](bool held, int) {
    world.tick(held);
    return SeriesSample{
        .victim = world.signal(), .victimLoad = world.load(), .suspectUse = world.use()};
  });
}

TEST(Proof, IsRightWhereCorrelationIsNot) {
  const int cases = sized(400, 4000);
  // The usual bound hardly accuses anybody whose signal is not doubled; lower ones accuse decoys.
  const double bounds[] = {kAntagonistCorrelation, kSensitiveCorrelation, 0.05};
  Score proof, alone[3];
  for (int i = 0; i < cases; ++i) {
    const bool guilty = i % 2 == 0;
    const Role decoys[] = {Role::kShadow, Role::kFollower, Role::kShadow, Role::kNeighbour};
    World world(1000 + static_cast<uint64_t>(i), guilty ? Role::kGuilty : decoys[i / 2 % 4]);
    const double seen = correlationIn(world);
    for (size_t b = 0; b < 3; ++b) alone[b].count(guilty, seen >= bounds[b]);
    proof.count(guilty, experimentOn(world, static_cast<uint64_t>(i)).kind == V::kGuilty);
  }
  std::printf("%d simulated cases: proof precision %.3f recall %.3f\n", cases, proof.precision(),
              proof.recall());
  for (size_t b = 0; b < 3; ++b)
    std::printf("  correlation alone, from %.2f: precision %.3f recall %.3f\n", bounds[b],
                alone[b].precision(), alone[b].recall());
  EXPECT_GE(proof.precision(), 0.95);
  EXPECT_GE(proof.recall(), 0.8);
}

}  // namespace
}  // namespace mangrove::agent::interference
