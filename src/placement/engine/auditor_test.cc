#include "placement/engine/auditor.h"

#include <gtest/gtest.h>

#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

using namespace std::chrono_literals;

api::Pod podOf(std::string_view text) {
  return *api::decodeText<api::Pod>(text);
}

struct Desk {
  explicit Desk(AuditorOptions options = {.enabled = true}) : auditor(options, clock, registry) {
    auditor.created(pod);
  }
  void saw(Audited what, Duration later = 0s) {
    clock.advance(later);
    auditor.saw(pod.meta.uid, what, "why");
  }
  // The value of a series as it is exposed; "" when there is none.
  std::string value(std::string_view series) const {
    const std::string all = registry.exposition();
    const size_t at = all.find("\nscheduler_workload_auditor_" + std::string(series) + " ");
    if (at == std::string::npos) return "";
    const size_t from = all.find(' ', at + 1) + 1;
    return all.substr(from, all.find('\n', from) - from);
  }

  VirtualClock clock;
  Registry registry;
  api::Pod pod = podOf(
      R"({"metadata":{"name":"p","namespace":"d","uid":"1","labels":{"team":"blue"}},"spec":{"priority":9500}})");
  Auditor auditor;
};

constexpr std::string_view kProd = R"({priority="koord-prod"})";

std::string of(std::string_view name, std::string_view labels = kProd) {
  return std::string(name) + std::string(labels);
}

TEST(Auditor, times_a_preemption_from_nomination_to_the_next_try) {
  Desk desk;
  desk.saw(Audited::kNominated);
  desk.saw(Audited::kVictimDeleting, 1s);
  desk.saw(Audited::kVictimsGone, 2s);
  desk.saw(Audited::kScheduled, 4s);
  desk.auditor.ended(desk.pod.meta.uid, "scheduled");
  EXPECT_EQ(desk.value(of("preemption_to_victim_deleted_seconds_sum")), "3");
  EXPECT_EQ(desk.value(of("preemption_victim_deleting_retries_sum")), "1");
  EXPECT_EQ(desk.value(of("victim_reschedule_duration_seconds_sum")), "4");
  EXPECT_EQ(desk.value(of("preemption_cycle_interrupted_seconds_count")), "");
  EXPECT_EQ(desk.value(of("preemption_invalidations_total")), "");
  EXPECT_EQ(desk.auditor.pods(), 0u);
}

TEST(Auditor, counts_each_nomination_that_came_to_nothing_once) {
  Desk desk;
  desk.saw(Audited::kNominated);
  desk.saw(Audited::kFailure, 2s);
  desk.saw(Audited::kPreemptFailure, 1s);
  EXPECT_EQ(desk.value(of("preemption_invalidations_total")), "1");
  EXPECT_EQ(desk.value(of("preemption_cycle_interrupted_seconds_sum")), "2");
  desk.saw(Audited::kNominated);
  EXPECT_EQ(desk.value(of("repeated_preemptions_total")), "1");
  EXPECT_EQ(desk.value(of("preemption_invalidations_total")), "1");
  desk.saw(Audited::kNominated);
  EXPECT_EQ(desk.value(of("repeated_preemptions_total")), "2");
  EXPECT_EQ(desk.value(of("preemption_invalidations_total")), "2");
}

TEST(Auditor, measures_silence_but_not_behind_a_gate) {
  Desk desk;
  desk.saw(Audited::kFailure, 3s);
  desk.saw(Audited::kGated, 5s);
  desk.saw(Audited::kAdmitted, 100s);
  desk.saw(Audited::kFailure, 4s);
  EXPECT_EQ(desk.value(of("scheduling_event_interval_seconds_sum")), "7");
  EXPECT_EQ(desk.value(of("scheduling_event_interval_seconds_count")), "2");
}

TEST(Auditor, says_what_happened_before_the_end_with_the_labels_asked_for) {
  Desk desk({.enabled = true, .labels = auditorLabels("team=team, =x,y, quota = q")});
  desk.saw(Audited::kFailure, 1s);
  desk.saw(Audited::kFailure, 1s);
  desk.auditor.ended(desk.pod.meta.uid, "deleted");
  EXPECT_EQ(
      desk.value(of(
          "scheduling_events_before_outcome_sum",
          R"({priority="koord-prod",team="blue",quota="",event_type="scheduleFailure",outcome="deleted"})")),
      "2");
}

TEST(Auditor, follows_the_engine) {
  Lab lab;
  Registry registry;
  lab.engine().audit({.enabled = true}, registry);
  lab.node(R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"2","pods":"110"}}})");
  const auto pod = [](std::string_view name, int priority, std::string_view more) {
    return fmt::format(
        R"({{"metadata":{{"name":"{}"}},"spec":{{"priority":{}{},"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"2"}}}}}}]}}}})",
        name, priority, more);
  };
  lab.pod(pod("victim", 1, R"(,"nodeName":"n1")"));
  lab.pod(pod("vip", 10, ""));
  lab.run();
  lab.wait(3s);
  EXPECT_EQ(lab.nodeOf("vip"), "n1");
  const std::string all = registry.exposition();
  for (
      const char* want :
      {R"(preemption_to_victim_deleted_seconds_count{priority=""} 1)",
       R"(victim_reschedule_duration_seconds_count{priority=""} 1)",
       R"(events_before_outcome_sum{priority="",event_type="create",outcome="scheduled"} 1)",
       R"(events_before_outcome_sum{priority="",event_type="preemptNominated",outcome="scheduled"} 1)"})
    EXPECT_NE(all.find(want), std::string::npos) << want << "\n" << all;
}

TEST(Auditor, follows_groups_as_such) {
  Lab lab;
  Registry registry;
  lab.engine().audit({.enabled = true}, registry);
  const auto member = [&](std::string_view name, std::string_view gang) {
    lab.pod(fmt::format(
        R"({{"metadata":{{"name":"{}","annotations":{{"gang.scheduling.koordinator.sh/name":"{}","gang.scheduling.koordinator.sh/min-available":"2"}}}},"spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"2"}}}}}}]}}}})",
        name, gang));
  };
  lab.node(R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"2","pods":"110"}}})");
  member("a", "g");
  lab.run();
  member("b", "g");
  lab.run();  // no room for both
  lab.node(R"({"metadata":{"name":"n2"},"status":{"allocatable":{"cpu":"2","pods":"110"}}})");
  lab.wait(12s);
  EXPECT_NE(lab.nodeOf("a"), "");
  member("c", "other");
  lab.removePod("c");
  const std::string all = registry.exposition();
  const auto count = [&](std::string_view event, std::string_view outcome) {
    const std::string key =
        fmt::format(R"(events_before_outcome_sum{{priority="",event_type="{}",outcome="{}"}} )",
                    event, outcome);
    const size_t at = all.find(key);
    return at == std::string::npos ? -1 : std::stoi(all.substr(at + key.size()));
  };
  // Two pods and the group; then the other group that never had enough, and its only pod.
  EXPECT_EQ(count("create", "scheduled"), 3);
  EXPECT_EQ(count("minMemberSatisfied", "scheduled"), 1);
  EXPECT_EQ(count("gatedByQueueAdmission", "scheduled"), 1);
  EXPECT_EQ(count("admissionPassed", "scheduled"), 1);
  EXPECT_GE(count("scheduleFailure", "scheduled"), 3);
  EXPECT_EQ(count("create", "deleted"), 2);
}

}  // namespace
}  // namespace mangrove::placement
