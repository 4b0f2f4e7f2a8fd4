// Who is gone when a reservation begins, and what a node has promised over time.
#include "placement/reservation/ahead.h"

#include <gtest/gtest.h>

#include "base/text/time_text.h"

namespace mangrove::placement {
namespace {

using namespace std::chrono_literals;

const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");

Departure departure(const std::string& runs, int priority, bool stays = false) {
  api::Annotations annotations;
  if (!runs.empty()) annotations.set("colocation.mangrove.io/expected-duration", runs);
  api::Labels labels;
  if (stays) labels.set("scheduling.koordinator.sh/disable-preemptible", "true");
  api::PodSpec spec;
  spec.priority = priority;
  return departureOf(annotations, labels, spec, kNow);
}

TEST(ReservationsAhead, who_makes_way) {
  struct Case {
    const char* what;
    Departure pod;
    std::optional<int32_t> priority;
    bool gone;
  };
  const Case cases[] = {
      {"says nothing", departure("", 0), {}, false},
      {"ends in time, with its grace", departure("59m", 0), {}, true},
      {"would still be ending", departure("59m45s", 0), {}, false},
      {"ends too late", departure("2h", 0), {}, false},
      {"lower priority", departure("", 5), 10, true},
      {"the same priority", departure("", 10), 10, false},
      {"ends too late, lower priority", departure("2h", 5), 10, true},
      {"nobody evicts it", departure("", 5, true), 10, false},
      {"nobody evicts it, whatever it says", departure("1m", 5, true), 10, false},
      {"cannot be read", departure("soon", 0), {}, false},
  };
  for (const Case& c : cases)
    EXPECT_EQ(makesWay(c.pod, {kNow + 1h, WallTime::max(), c.priority}), c.gone) << c.what;
}

TEST(ReservationsAhead, a_pod_that_is_being_deleted_is_gone_by_then) {
  Departure going = departure("", 0, true);
  going.isGoing = true;
  EXPECT_TRUE(makesWay(going, {kNow + 1h, WallTime::max(), {}}));
}

TEST(ReservationsAhead, a_promise_counts_from_when_the_pod_got_its_node) {
  api::Pod pod;
  pod.meta.annotations.set("colocation.mangrove.io/expected-duration", "1h");
  api::Condition placed;
  placed.type = Interned("PodScheduled");
  placed.status = api::Truth::kTrue;
  placed.lastTransitionTime = kNow - 30min;
  pod.status.conditions = {placed};
  pod.status.startTime = kNow - 20min;
  EXPECT_EQ(departureOf(pod, kNow).promised, kNow + 30min + 30s);
}

TEST(ReservationsAhead, amounts_over_time_are_steps) {
  const std::vector<Tenure> all = {
      {"pod a", {{"cpu", 2000}}, WallTime::min(), WallTime::max()},
      {"pod b", {{"cpu", 4000}}, WallTime::min(), kNow + 1h},
      {"reservation r", {{"cpu", 6000}, {"memory", 8}}, kNow + 1h, kNow + 3h},
      {"reservation past", {{"cpu", 9000}}, kNow - 2h, kNow - 1h},
  };
  const auto steps = stepsOf(all, kNow);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].at, kNow);
  EXPECT_EQ(steps[0].taken.amount("cpu"), 6000);
  EXPECT_EQ(steps[1].at, kNow + 1h);
  EXPECT_EQ(steps[1].taken.amount("cpu"), 8000);
  EXPECT_EQ(steps[1].taken.amount("memory"), 8);
  EXPECT_EQ(steps[1].comes, std::vector<std::string>{"reservation r"});
  EXPECT_EQ(steps[1].goes, std::vector<std::string>{"pod b"});
  EXPECT_EQ(steps[2].at, kNow + 3h);
  EXPECT_EQ(steps[2].taken.amount("cpu"), 2000);
  EXPECT_TRUE(steps[2].comes.empty());
}

TEST(ReservationsAhead, no_more_go_than_must) {
  const std::vector<Amounts> candidates = {
      {{"memory", 5}}, {{"cpu", 2000}}, {{"cpu", 3000}, {"memory", 1}}, {{"cpu", 9000}}};
  EXPECT_EQ(whoGoes(candidates, {{"cpu", 4000}}), (std::vector<size_t>{1, 2}));
  EXPECT_TRUE(whoGoes(candidates, {{"cpu", -1}}).empty());
  EXPECT_EQ(whoGoes(candidates, {{"cpu", 99000}}), (std::vector<size_t>{1, 2, 3}));
}

}  // namespace
}  // namespace mangrove::placement
