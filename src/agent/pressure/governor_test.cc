#include "agent/pressure/governor.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/number/rng.h"

namespace mangrove::agent {
namespace {

using std::chrono::milliseconds;

constexpr Duration kStep = milliseconds(25);
constexpr int64_t kMachine = 800'000;

struct Table {
  PressureGovernor governor{{.machine = kMachine}};
  MonoTime now{};
  Ruling step(double waited, double used, bool alarmed = false) {
    now += kStep;
    const ServiceWait one{1, waited};
    return governor.step({now, used, alarmed}, {&one, 1});
  }
  Ruling steps(int count, double waited, double used) {
    Ruling last;
    for (int i = 0; i < count; ++i) last = step(waited, used);
    return last;
  }
};

TEST(PressureGovernor, LeavesCalmServicesAlone) {
  Table t;
  EXPECT_EQ(t.steps(100, 0.04, 8).cap, kUnlimited);
  // A hiccup of one sample is not enough.
  EXPECT_FALSE(t.step(0.12, 8).cut);
  EXPECT_EQ(t.steps(10, 0.0, 8).cap, kUnlimited);
}

TEST(PressureGovernor, CutsByWhatServicesWait) {
  struct Row {
    double waited, used;
    int64_t cap;
  };
  for (const Row& row : {Row{0.25, 8, 400'000},          // a little: half of what it used
                         Row{0.8, 8, 160'000},           // much: what the wait leaves
                         Row{1.0, 8, 2000},              // always: the floor
                         Row{0.25, 2, 100'000},          // of what it used, not of the machine
                         Row{1.0, 0.02, kUnlimited}}) {  // it uses nothing: not its doing
    Table t;
    t.step(row.waited, row.used);
    EXPECT_EQ(t.step(row.waited, row.used).cap, row.cap) << row.waited << " " << row.used;
  }
}

// Batch work without a floor stalls a service now and then for a whole time slice; two samples in a
// row may stay below the threshold for long.
TEST(PressureGovernor, NoticesSingleStallsThatKeepComing) {
  Table t;
  t.steps(40, 0.01, 0);
  int samples = 0;
  for (double waited : {0.13, 0.04, 0.14, 0.03, 0.11, 0.14, 0.05, 0.12}) {
    ++samples;
    if (t.step(waited, 8).cut) break;
  }
  EXPECT_LE(samples, 4);
  EXPECT_NE(t.governor.cap(), kUnlimited);
}

TEST(PressureGovernor, TakesTheKernelsWord) {
  EXPECT_TRUE(Table().step(0.06, 8, true).cut) << "one sample, and the alarm";
  EXPECT_FALSE(Table().step(0.06, 8, false).cut);
  EXPECT_FALSE(Table().step(0.0, 8, true).cut) << "it rang for somebody else";
}

// A service that always waits (its quota is spent, say, where that is not known) is judged by what it
// is used to; another one's suffering shows beside it, and its own full share fakes nothing.
TEST(PressureGovernor, OneBaselinePerService) {
  PressureGovernor governor({.machine = kMachine});
  MonoTime now{};
  const auto step = [&](double always, double healthy, double used) {
    const ServiceWait waits[] = {{1, always}, {2, healthy}};
    return governor.step({now += kStep, used}, waits);
  };
  for (int i = 0; i < 400; ++i) step(1.0, 0.0, 0.0);  // best-effort work idle: learnt
  for (int i = 0; i < 400; ++i) EXPECT_FALSE(step(1.0, 0.0, 8).cut) << i;
  EXPECT_TRUE(step(1.0, 0.6, 8).cut || step(1.0, 0.6, 8).cut);
  EXPECT_EQ(governor.worst(), 2u);
  EXPECT_LE(governor.cap(), 400'000) << "by what the sufferer waits";
}

TEST(PressureGovernor, WaitsForACutToShow) {
  Table t;
  EXPECT_FALSE(t.step(0.15, 8).cut);
  EXPECT_TRUE(t.step(0.15, 8).cut);
  EXPECT_FALSE(t.step(0.15, 4).cut);
  EXPECT_FALSE(t.step(0.15, 4).cut);
  EXPECT_TRUE(t.step(0.15, 4).cut);
}

TEST(PressureGovernor, HoldsThenGrowsThenLetsGo) {
  Table t;
  t.steps(2, 1.0, 8);
  ASSERT_EQ(t.governor.cap(), 2000);
  EXPECT_EQ(t.steps(78, 0.0, 0.02).cap, 2000);           // 2 s
  EXPECT_EQ(t.steps(41, 0.0, 1).cap, 2000 + 41 * 2000);  // a tenth of the machine per second
  // Not to where it hurt: nine tenths of what it used then, until that is long ago.
  EXPECT_EQ(t.steps(40 * 20, 0.0, 5).cap, 720'000);
  EXPECT_EQ(t.steps(40 * 15, 0.0, 7).cap, kUnlimited);
}

TEST(PressureGovernor, DoesNotMoveInTheDeadBand) {
  Table t;
  t.steps(2, 0.5, 8);
  const int64_t cap = t.governor.cap();
  ASSERT_LT(cap, kMachine);
  EXPECT_EQ(t.steps(40 * 60, 0.07, 3).cap, cap);
}

// Services throttled by their own limit wait whatever best-effort work does.
TEST(PressureGovernor, DoesNotStarveForSomebodyElsesSins) {
  Table t;
  for (int i = 0; i < 40 * 30; ++i) t.step(0.7, std::min(8.0, double(t.governor.cap()) / 1e5));
  EXPECT_GT(t.governor.cap(), 500'000);
  EXPECT_NEAR(t.governor.baseline(), 0.7, 0.3);
}

// In the idle class a cut that changes nothing is taken back, and not tried again at once.
TEST(PressureGovernor, TakesBackWhatDoesNotHelp) {
  Table t;
  t.governor.setOptions(forIdleClass({.machine = kMachine}));
  EXPECT_EQ(t.steps(10, 0.45, 8).cap, kUnlimited);
  EXPECT_EQ(t.steps(9, 0.6, 8).cap, kUnlimited);  // it has to last
  EXPECT_EQ(t.steps(4, 0.6, 8).cap, 320'000);
  EXPECT_EQ(t.steps(35, 0.6, 3.2).cap, 320'000);  // one cut, then a second to see
  EXPECT_EQ(t.steps(5, 0.6, 3.2).cap, kUnlimited);
  EXPECT_EQ(t.governor.futile(), 1u);
  EXPECT_EQ(t.steps(40 * 60, 0.6, 8).cap, kUnlimited);
  EXPECT_EQ(t.governor.cuts(), 1u);
}

TEST(PressureGovernor, KeepsWhatHelps) {
  Table t;
  t.governor.setOptions(forIdleClass({.machine = kMachine}));
  t.steps(13, 0.6, 8);
  ASSERT_EQ(t.governor.cap(), 320'000);
  EXPECT_EQ(t.steps(60, 0.2, 3.2).cap, 320'000);
  EXPECT_EQ(t.governor.futile(), 0u);
  EXPECT_GT(t.steps(60, 0.1, 3.2).cap, 320'000);  // and grows after the hold
}

// The kernel's alarm means a tenth of the time, which says nothing in the idle class.
// The first tick of an agent sees a group that is not in the idle class yet.
TEST(PressureGovernor, GivesBackWhatWasCutBeforeTheFloor) {
  Table t;
  ASSERT_EQ(t.steps(2, 1.0, 8).cap, 2000);
  t.governor.setOptions({.machine = kMachine});
  EXPECT_EQ(t.step(0, 0.02).cap, 2000) << "the same rules: it holds";
  t.governor.setOptions(forIdleClass({.machine = kMachine}));
  EXPECT_EQ(t.step(0, 0.02).cap, kUnlimited);
  t.steps(20, 1.0, 8);
  ASSERT_NE(t.governor.cap(), kUnlimited);
  t.governor.setOptions(forIdleClass({.machine = kMachine / 2}));
  EXPECT_NE(t.step(0, 0.02).cap, kUnlimited) << "the floor was there before";
}

TEST(PressureGovernor, AlarmsBelowTheThresholdDoNotCount) {
  Table t;
  t.governor.setOptions(forIdleClass({.machine = kMachine}));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(t.step(0.15, 8, true).cut);
}

// A machine: services want so many cores, best-effort work takes what it may; whoever does not fit
// waits. Whatever the load, the limit settles instead of swinging.
struct Plant {
  double services = 0;  // cores they want
  double noise = 0;
  double waited(double used, Rng& rng) const {
    const double over = (services + used - 8) / 8;
    return std::clamp(over + noise * (rng.unit() - 0.5), 0.0, 1.0);
  }
};

TEST(PressureGovernor, NeverSwings) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    const Plant plant{rng.unit() * 9, rng.unit() * 0.15};
    Table t;
    uint64_t settled = 0;
    int64_t least = kUnlimited;
    for (int i = 0; i < 40 * 300; ++i) {
      const double used = std::min(8.0, double(t.governor.cap()) / 1e5);
      t.step(plant.waited(used, rng), used);
      least = std::min(least, t.governor.cap());
      if (i == 40 * 60) settled = t.governor.cuts();
    }
    EXPECT_GE(least, 2000);
    // After the first minute: at most three cuts a minute, even where services alone fill the
    // machine and every probe meets their noise.
    EXPECT_LE(t.governor.cuts() - settled, 12u)
        << "seed " << seed << " services " << plant.services << " noise " << plant.noise;
  }
}

}  // namespace
}  // namespace mangrove::agent
