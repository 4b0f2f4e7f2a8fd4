#include "agent/crane/watch.h"

#include <gtest/gtest.h>

#include "json/value.h"

namespace mangrove::agent::crane {
namespace {

using std::chrono::seconds;
using enum Phase;

// T-CR-1.
TEST(RuleWatch, CountsConsecutiveHitsAndMisses) {
  RuleWatch watch;
  const double watermark = 4000;
  struct Row {
    double value;
    Phase phase;
  };
  for (const Row& row :
       {Row{3900, kQuiet}, Row{4100, kQuiet}, Row{4000, kQuiet}, Row{4200, kQuiet},
        Row{4300, kTriggered}, Row{3800, kQuiet}, Row{3900, kRestored}, Row{3900, kQuiet}})
    EXPECT_EQ(watch.sample(row.value > watermark, {2, 2}), row.phase) << row.value;
}

TEST(RuleWatch, AMissingMetricChangesNothing) {
  RuleWatch watch;
  EXPECT_EQ(watch.sample(true, {2, 2}), kQuiet);
  EXPECT_EQ(watch.sample(std::nullopt, {2, 2}), kUnknown);
  EXPECT_EQ(watch.sample(true, {2, 2}), kTriggered);
  EXPECT_EQ(watch.sample(false, {2, 2}), kQuiet);
  EXPECT_EQ(watch.sample(std::nullopt, {2, 2}), kUnknown);
  EXPECT_EQ(watch.sample(false, {2, 2}), kRestored);
}

TEST(RuleWatch, StaysTriggeredWhileItIsAbove) {
  RuleWatch watch;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(watch.sample(true, {1, 1}), kTriggered);
  EXPECT_EQ(watch.sample(false, {1, 3}), kQuiet);
  EXPECT_EQ(watch.sample(true, {1, 3}), kTriggered);
  EXPECT_TRUE(watch.isPending());
}

// T-CR-6.
TEST(SchedulingBlock, RemembersARestoreWithinTheCoolDown) {
  SchedulingBlock block;
  const WallTime start{seconds(1000)};
  for (int at = -10; at <= 400; at += 10) {
    const Phase phase = at == 0 ? kTriggered : at == 40 ? kRestored : kQuiet;
    const std::vector<RulePhase> rules{{"q.r", phase, seconds(300)}};
    EXPECT_EQ(block.step(start + seconds(at), rules), at >= 0 && at <= 300) << at;
  }
}

TEST(SchedulingBlock, WaitsForEveryRuleAndTheLongestCoolDown) {
  SchedulingBlock block;
  const WallTime start{seconds(1000)};
  const auto step = [&](int at, Phase a, Phase b) {
    const std::vector<RulePhase> rules{{"a", a, seconds(30)}, {"b", b, seconds(60)}};
    return block.step(start + seconds(at), rules);
  };
  EXPECT_TRUE(step(0, kTriggered, kQuiet));
  EXPECT_TRUE(step(10, kQuiet, kTriggered));
  EXPECT_TRUE(step(20, kRestored, kQuiet));
  EXPECT_TRUE(step(100, kQuiet, kQuiet)) << "b is not restored";
  EXPECT_FALSE(step(110, kQuiet, kRestored)) << "the cool-down is over already";
  EXPECT_TRUE(step(120, kTriggered, kQuiet));
  EXPECT_FALSE(block.step(start + seconds(121), {})) << "no rules are left";
}

TEST(SchedulingBlock, OutlivesTheAgent) {
  SchedulingBlock block, next;
  const WallTime start{seconds(1000)};
  const std::vector<RulePhase> on{{"a", kTriggered, seconds(300)}};
  const std::vector<RulePhase> over{{"a", kRestored, seconds(300)}};
  block.step(start, on);
  next.restore(block.state());
  EXPECT_TRUE(next.step(start + seconds(20), over));
  EXPECT_FALSE(
      next.step(start + seconds(301), std::vector<RulePhase>{{"a", kQuiet, seconds(300)}}));
  EXPECT_TRUE(SchedulingBlock().state().is_null());
}

}  // namespace
}  // namespace mangrove::agent::crane
