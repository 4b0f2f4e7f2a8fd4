#include "agent/crane/round.h"

#include <gtest/gtest.h>

namespace mangrove::agent::crane {
namespace {

using api::AvoidanceActionSpec;
using api::CpuThrottleSpec;

AvoidanceActionSpec slows(int floor, int step) {
  AvoidanceActionSpec out;
  out.throttle = api::ThrottleSpec{CpuThrottleSpec{floor, step}, {}};
  return out;
}
AvoidanceActionSpec evictsAfter(std::optional<int64_t> grace = {}) {
  AvoidanceActionSpec out;
  out.eviction = api::EvictionSpec{grace};
  return out;
}
PodFacts pod(std::string uid, double cores, std::optional<double> quota = {}, double limit = 0) {
  PodFacts out;
  out.uid = uid;
  out.cpu = cores;
  out.containers = {{uid + "/c", quota, cores, 0, limit, {}}};
  out.allowed = {"act"};
  return out;
}
std::vector<std::string> uids(std::span<const Evict> all) {
  std::vector<std::string> out;
  for (const Evict& one : all) out.push_back(one.uid);
  return out;
}

// T-CR-2.
TEST(CraneRound, ThrottlesInOrderUntilTheGapIsClosed) {
  const AvoidanceActionSpec action = slows(10, 10);
  Round round;
  round.capacity = {8, 0};
  round.triggered = {{"q.cpu", "cpu_total_usage", "act", 6000, 7000, &action}};
  EXPECT_DOUBLE_EQ(gapOf(*metricNamed("cpu_total_usage"), 7000, 6000, round.capacity), 1100);
  round.pods = {pod("A", 3.5, 4, 4), pod("B", 2.0), pod("C", 1.0)};
  const Plan plan = planRound(round);
  ASSERT_EQ(plan.throttles.size(), 3u);
  EXPECT_DOUBLE_EQ(plan.throttles[0].cores, 3.6);
  EXPECT_DOUBLE_EQ(plan.throttles[0].released, 0);
  EXPECT_DOUBLE_EQ(plan.throttles[1].cores, 1.8);
  EXPECT_NEAR(plan.throttles[1].released, 200, 1e-9);
  EXPECT_EQ(plan.throttles[2].uid, "C") << "900 m are left: the next pod in order";
  EXPECT_TRUE(plan.evictions.empty());
}

TEST(CraneThrottle, Formulas) {
  struct Row {
    Container one;
    CpuThrottleSpec how;
    double cores, released;
  };
  for (const Row& row : {Row{{"c", 4, 3.5, 0, 4, {}}, {10, 10}, 3.6, 0},
                         Row{{"c", {}, 2.0, 0, 0, {}}, {10, 10}, 1.8, 0.2},
                         // T-CR-3: the floor.
                         Row{{"c", 0.42, 0.42, 0, 4, {}}, {10, 10}, 0.4, 0.02},
                         Row{{"c", 2, 2, 1.9, 4, {}}, {10, 20}, 1.9, 0.1}}) {
    const Cut cut = throttled(row.one, row.how);
    EXPECT_NEAR(cut.cores, row.cores, 1e-9);
    EXPECT_NEAR(cut.released, row.released, 1e-9);
  }
}

TEST(CraneRestore, Formulas) {
  struct Row {
    Container one;
    std::optional<double> cores;
  };
  for (const Row& row : {Row{{"c", {}, 1, 0, 4, {}}, std::nullopt}, Row{{"c", 2, 1, 0, 4, {}}, 2.2},
                         Row{{"c", 3.9, 1, 0, 4, {}}, 4.0}, Row{{"c", 1, 1, 0, 0, 3}, 3.0},
                         Row{{"c", 58, 1, 0, 0, {}}, kNoQuota}, Row{{"c", 5, 1, 0, 0, {}}, 5.5}}) {
    const auto cores = restored(row.one, {10, 10});
    ASSERT_EQ(cores.has_value(), row.cores.has_value());
    if (cores) {
      EXPECT_NEAR(*cores, *row.cores, 1e-9);
    }
  }
}

// T-CR-4.
TEST(CraneGap, PercentagesBecomeAmounts) {
  EXPECT_NEAR(gapOf(*metricNamed("cpu_total_utilization"), 65, 60, {64, 0}), 3520, 1e-9);
  EXPECT_NEAR(gapOf(*metricNamed("memory_total_utilization"), 95, 90, {0, 1e9}), 5.5e7, 1e-3);
  EXPECT_EQ(metricNamed("no_such_metric"), nullptr);
}

// T-CR-5.
TEST(CraneOrder, ElasticThenPriorityThenClassThenUse) {
  std::vector<PodFacts> pods(3);
  pods[0] = {.uid = "a", .elastic = true, .priority = 0, .cpu = 1};
  pods[1] = {.uid = "b", .elastic = true, .priority = -5, .cpu = 0.2};
  pods[2] = {.uid = "c", .elastic = false, .priority = -100, .cpu = 9};
  std::string order;
  for (const PodFacts* one : ordered(pods, Dimension::kCpu)) order += one->uid;
  EXPECT_EQ(order, "bac");
  order.clear();
  for (const PodFacts* one : ordered(pods, Dimension::kNone)) order += one->uid;
  EXPECT_EQ(order, "cba") << "without an amount: priority";
}

TEST(CraneOrder, IsTotal) {
  std::vector<PodFacts> pods = {{.uid = "z"}, {.uid = "x"}, {.uid = "y"}};
  std::string order;
  for (const PodFacts* one : ordered(pods, Dimension::kCpu)) order += one->uid;
  EXPECT_EQ(order, "xyz");
}

TEST(CraneRound, EvictsOnlyWhatThrottlingLeft) {
  AvoidanceActionSpec both = slows(10, 50);
  both.eviction = api::EvictionSpec{30};
  Round round;
  round.capacity = {8, 0};
  round.triggered = {{"q.cpu", "cpu_total_usage", "act", 6000, 7000, &both}};
  round.pods = {pod("A", 2, 2, 4), pod("B", 1, 1, 4), pod("C", 0.5, 0.5, 4)};
  Plan plan = planRound(round);  // A gives 1000 of 1100, B the rest
  EXPECT_EQ(plan.throttles.size(), 2u);
  EXPECT_TRUE(plan.evictions.empty());
  round.parallel = true;
  plan = planRound(round);
  EXPECT_EQ(uids(plan.evictions), std::vector<std::string>{"A"}) << "as the peer does";
  EXPECT_EQ(plan.evictions[0].grace, 30);
}

TEST(CraneRound, EvictsByUseAndNeverTooMany) {
  const AvoidanceActionSpec action = evictsAfter();
  Round round;
  round.capacity = {8, 0};
  round.triggered = {{"q.cpu", "cpu_total_usage", "act", 6000, 8000, &action}};
  round.pods = {pod("A", 1.5), pod("B", 1), pod("C", 0.5), pod("D", 0.2)};
  EXPECT_EQ(uids(planRound(round).evictions), (std::vector<std::string>{"A", "B"}));
  // Nobody can say what helps against load: three at most.
  round.triggered = {{"q.load", "cpu_load_1_min", "act", 10, 20, &action}};
  EXPECT_EQ(planRound(round).evictions.size(), 3u);
  round.triggered[0].observed.reset();
  EXPECT_EQ(planRound(round).evictions.size(), 3u);
}

// The one order: class and priority first, then who loses least, with the sentence.
TEST(CraneRound, EvictsByTheOneOrderOfVictims) {
  const AvoidanceActionSpec action = evictsAfter();
  Round round;
  round.leastLoss = true;
  round.now = WallTime{std::chrono::hours(1000)};
  round.triggered = {{"q.cpu", "cpu_total_usage", "act", 6000, 7000, &action}};
  round.pods = {pod("native", 2), pod("big", 4), pod("fresh", 2), pod("high", 2)};
  for (PodFacts& one : round.pods) {
    one.elastic = one.uid != "native";
    one.stake.name = one.uid;
    one.stake.progress = {.says = victims::Progress::Says::kSaves,
                          .cores = one.cpu,
                          .started = round.now - std::chrono::hours(1),
                          .restart = Duration::zero()};
  }
  round.pods[2].stake.progress.saved = round.now - std::chrono::seconds(5);
  round.pods[3].stake.priority = 1;
  const Plan plan = planRound(round);
  ASSERT_EQ(uids(plan.evictions), std::vector<std::string>{"fresh"});
  EXPECT_EQ(plan.evictions[0].why,
            "q.cpu: cpu_total_usage is over 6000; loses 10 core seconds of work and 0 for its "
            "restart; big would have lost 14400 and 0");
  round.triggered[0].metric = "psi_cpu_some_avg10";  // nobody can say how much would help
  round.mostEvictions = 3;
  EXPECT_EQ(uids(planRound(round).evictions), (std::vector<std::string>{"fresh", "big", "high"}));
}

TEST(CraneRound, OnlyPodsThatAllowTheAction) {
  const AvoidanceActionSpec action = evictsAfter();
  Round round;
  round.capacity = {8, 0};
  round.triggered = {{"q.cpu", "cpu_total_usage", "act", 6000, 7000, &action}};
  round.pods = {pod("A", 4), pod("B", 2)};
  round.pods[0].allowed = {"other"};
  EXPECT_EQ(uids(planRound(round).evictions), std::vector<std::string>{"B"});
}

TEST(CraneRound, MergesWhatSeveralRulesSay) {
  AvoidanceActionSpec one = slows(10, 10), two = slows(50, 20);
  one.eviction = api::EvictionSpec{60};
  two.eviction = api::EvictionSpec{5};
  Round round;
  round.capacity = {8, 0};
  round.triggered = {{"q.a", "cpu_total_usage", "act", 6000, 9000, &one},
                     {"q.b", "cpu_total_usage", "more", 5000, 9000, &two}};
  round.pods = {pod("A", 2, 2, 2)};
  round.pods[0].allowed = {"act", "more"};
  const Plan plan = planRound(round);
  ASSERT_EQ(plan.throttles.size(), 1u);
  EXPECT_NEAR(plan.throttles[0].cores, 1.6, 1e-9) << "a step of 20, a floor of 1";
  ASSERT_EQ(plan.evictions.size(), 1u);
  EXPECT_EQ(plan.evictions[0].grace, 5);
}

TEST(CraneRound, RestoresWhatNoRuleWantsSlow) {
  const AvoidanceActionSpec action = slows(10, 10);
  Round round;
  round.restored = {{"q.cpu", "cpu_total_usage", "act", 6000, 5000, &action}};
  round.pods = {pod("A", 1, 2, 4), pod("B", 1)};
  Plan plan = planRound(round);
  ASSERT_EQ(plan.throttles.size(), 1u);
  EXPECT_TRUE(plan.throttles[0].back);
  EXPECT_NEAR(plan.throttles[0].cores, 2.2, 1e-9);
  round.triggered = {{"q.load", "cpu_load_1_min", "act", 10, 20, &action}};
  for (const Throttle& one : planRound(round).throttles) EXPECT_FALSE(one.back);
}

}  // namespace
}  // namespace mangrove::agent::crane
