// Gangs on a table: who stands in line, who waits, who is placed with whom.
#include <gtest/gtest.h>

#include "placement/testing/gang_lab.h"

namespace mangrove::placement {
namespace {

TEST_F(Gangs, one_member_stands_in_line_when_enough_are_there) {
  node("n1", "0");
  pod({.name = "a"});
  pod({.name = "b"});
  EXPECT_EQ(lab.engine().queue().sizes().gated, 2u);
  EXPECT_EQ(lab.run(), 0u);
  pod({.name = "c"});
  const auto sizes = lab.engine().queue().sizes();
  EXPECT_EQ(sizes.active, 1u);
  EXPECT_EQ(sizes.gated, 2u);
}

TEST_F(Gangs, strict_is_placed_whole_and_marked) {
  node("n1", "2");
  node("n2", "2");
  for (auto name : {"a", "b", "c"}) pod({.name = name});
  lab.run();
  EXPECT_EQ(placed({"a", "b", "c"}), 3);
  EXPECT_EQ(lab.annotation("a", "internal.scheduling.koordinator.sh/bind-gang-member-count"), "3");
  EXPECT_EQ(lab.annotation("a", "scheduling.koordinator.sh/bind-gang-group-id"), "default/g");
  EXPECT_EQ(waiting(), 0u);
}

TEST_F(Gangs, strict_that_does_not_fit_takes_nothing_and_says_so) {
  node("n1", "2");
  for (auto name : {"a", "b", "c"}) pod({.name = name});
  pod({.name = "single", .gang = "other", .min = "1", .cpu = "2"});
  lab.run();
  EXPECT_EQ(placed({"a", "b", "c"}), 0);
  EXPECT_EQ(lab.nodeOf("single"), "n1");
  EXPECT_NE(lab.said("a").find("needs places for 3 members at once, at most 2 fit"),
            std::string::npos)
      << lab.said("a");
  EXPECT_NE(lab.said("b").find("gang group default/g is not placed"), std::string::npos)
      << lab.said("b");
  node("n2", "4");  // wakes the one that stands for all
  lab.wait(std::chrono::seconds(15));
  EXPECT_EQ(placed({"a", "b", "c"}), 3);
}

TEST_F(Gangs, two_groups_of_sixty_percent_do_not_lock_each_other_out) {
  node("n1", "10");
  for (int i = 0; i < 6; i++) {
    pod({.name = "x" + std::to_string(i), .gang = "x", .min = "6"});
    pod({.name = "y" + std::to_string(i), .gang = "y", .min = "6"});
  }
  lab.run();
  int x = 0, y = 0;
  for (int i = 0; i < 6; i++) {
    x += placed({"x" + std::to_string(i)});
    y += placed({"y" + std::to_string(i)});
  }
  EXPECT_EQ(std::max(x, y), 6);
  EXPECT_EQ(std::min(x, y), 0);
}

TEST_F(Gangs, members_beyond_the_minimum_are_placed_as_far_as_they_fit) {
  node("n1", "3");
  for (auto name : {"a", "b", "c", "d"}) pod({.name = name, .min = "2"});
  lab.run();
  EXPECT_EQ(placed({"a", "b", "c", "d"}), 3);
  node("n2", "4");
  lab.wait(std::chrono::seconds(15));
  EXPECT_EQ(placed({"a", "b", "c", "d"}), 4);
}

TEST_F(Gangs, groups_need_every_one_of_their_gangs) {
  const std::string both =
      R"(,"gang.scheduling.koordinator.sh/groups":"[\"default/a\",\"default/b\"]")";
  node("n1", "2");
  pod({.name = "a0", .gang = "a", .min = "2", .more = both});
  pod({.name = "a1", .gang = "a", .min = "2", .more = both});
  lab.run();
  EXPECT_EQ(placed({"a0", "a1"}), 0);  // b is missing
  pod({.name = "b0", .gang = "b", .min = "1", .cpu = "4", .more = both});
  lab.run();
  EXPECT_EQ(placed({"a0", "a1", "b0"}), 0);  // b does not fit
  node("n2", "4");
  lab.wait(std::chrono::seconds(15));
  EXPECT_EQ(placed({"a0", "a1", "b0"}), 3);
}

TEST_F(Gangs, one_strict_gang_makes_its_group_strict) {
  const std::string both =
      R"(,"gang.scheduling.koordinator.sh/groups":"[\"default/a\",\"default/b\"]")";
  node("n1", "2");
  pod({.name = "b0", .gang = "b", .min = "1", .more = both + kNonStrict});
  pod({.name = "a0", .gang = "a", .min = "2", .more = both});
  pod({.name = "a1", .gang = "a", .min = "2", .more = both});
  lab.run();
  EXPECT_EQ(waiting(), 0u);  // whoever stood in line for them
  EXPECT_EQ(lab.cluster().podCount(), 0u);
}

TEST_F(Gangs, recreated_members_go_by_the_match_policy) {
  const auto policy = [](const std::string& word) {
    return R"(,"gang.scheduling.koordinator.sh/match-policy":")" + word + "\"";
  };
  node("n1", "16");
  for (auto word : {"once-satisfied", "only-waiting", "waiting-and-running"}) {
    const std::string w(word);
    for (auto name : {"-0", "-1"})
      pod({.name = w + name, .gang = w, .min = "2", .more = policy(w)});
    lab.run();
    ASSERT_EQ(placed({w + "-0", w + "-1"}), 2) << w;
    lab.removePod(w + "-0");
    pod({.name = w + "-2", .gang = w, .min = "2", .more = policy(w)});
    lab.run();
    EXPECT_EQ(placed({w + "-2"}), w == "only-waiting" ? 0 : 1) << w << lab.said(w + "-2");
    EXPECT_EQ(lab.annotation(w + "-2", "internal.scheduling.koordinator.sh/bind-gang-member-count"),
              "");
  }
}

TEST_F(Gangs, whoever_lost_only_its_binding_goes_alone_by_every_match_policy) {
  node("n1", "16");
  for (auto word : {"once-satisfied", "only-waiting", "waiting-and-running"}) {
    const std::string w(word), last = "default/" + w + "-2";
    lab.refusesBinding = [&, refused = 0](std::string_view key) mutable {
      return key == last && refused++ == 0;
    };
    for (auto name : {"-0", "-1", "-2"})
      pod({.name = w + name,
           .gang = w,
           .min = "3",
           .more = R"(,"gang.scheduling.koordinator.sh/match-policy":")" + w + "\""});
    lab.run();
    lab.wait(std::chrono::seconds(15));
    EXPECT_EQ(placed({w + "-0", w + "-1", w + "-2"}), 3) << w << lab.said(w + "-2");
  }
}

TEST_F(Gangs, a_pod_group_describes_its_gang_and_may_change_its_mind) {
  node("n1", "8");
  const auto member = [&](const std::string& name) {
    lab.pod(
        R"({"metadata":{"name":")" + name +
        R"(","labels":{"pod-group.scheduling.sigs.k8s.io":"pg"}},"spec":{"containers":[{"name":"c"}]}})");
  };
  member("a");
  lab.run();
  EXPECT_EQ(lab.nodeOf("a"), "");  // nobody has said the minimum
  podGroup("pg", 5);
  member("b");
  member("c");
  lab.run();
  EXPECT_EQ(placed({"a", "b", "c"}), 0);
  podGroup("pg", 3);
  lab.run();
  EXPECT_EQ(placed({"a", "b", "c"}), 3);
  EXPECT_EQ(gang("pg")["boundChildren"].as_array().size(), 3u);
}

TEST_F(Gangs, gated_and_foreign_members_do_not_count) {
  node("n1", "8");
  pod({.name = "a", .min = "2"});
  pod({.name = "gated", .min = "2", .spec = R"("schedulingGates":[{"name":"x"}],)"});
  pod({.name = "foreign", .min = "2", .spec = R"("schedulerName":"somebody",)"});
  lab.run();
  EXPECT_EQ(placed({"a", "gated", "foreign"}), 0);
  pod({.name = "gated", .min = "2"});  // the gate opens
  lab.run();
  EXPECT_EQ(placed({"a", "gated"}), 2);
}

TEST_F(Gangs, the_next_one_stands_in_when_the_representative_is_gone) {
  node("n1", "1");
  for (auto name : {"a", "b", "c", "d"}) pod({.name = name});
  lab.run();
  EXPECT_EQ(placed({"a", "b", "c", "d"}), 0);
  for (auto name : {"a", "b"}) lab.removePod(name);
  pod({.name = "e"});
  node("n1", "8");
  lab.wait(std::chrono::seconds(15));
  EXPECT_EQ(placed({"c", "d", "e"}), 3);
}

TEST_F(Gangs, a_refused_binding_leaves_the_others_bound_and_is_tried_again) {
  node("n1", "8");
  lab.refuseBindings = true;
  for (auto name : {"a", "b", "c"}) pod({.name = name});
  lab.run();
  EXPECT_EQ(placed({"a", "b", "c"}), 0);
  lab.refuseBindings = false;
  lab.wait(std::chrono::seconds(20));
  EXPECT_EQ(placed({"a", "b", "c"}), 3);
}

// However many are refused, and with no room besides: nobody waits for an event, nor for the minutes
// of those who found no node.
template <class Machine>
class RefusedGang : public Machine {
 public:
  void TestBody() override {}
  int placedAfter(int refusals) {
    this->node("n1", "3");
    this->lab.refusesBinding = [&](std::string_view) { return refusals-- > 0; };
    for (auto name : {"a", "b", "c"}) this->pod({.name = name});
    this->lab.run();
    this->lab.wait(std::chrono::seconds(20));
    return this->placed({"a", "b", "c"});
  }
};
TEST(RefusedGangs, are_tried_again_after_the_usual_time) {
  for (int refusals = 1; refusals <= 8; refusals++) {
    EXPECT_EQ(RefusedGang<Gangs>().placedAfter(refusals), 3) << refusals;
    EXPECT_EQ(RefusedGang<PermitGangs>().placedAfter(refusals), 3) << refusals;
  }
}

// Whoever stands for the group was behind its gate when it was taken; it must not seem to be there
// still, because nobody looks at gated pods when time has passed.
TEST_F(Gangs, who_stands_for_a_failed_group_is_tried_again_when_time_has_passed) {
  node("n1", "2");
  for (auto name : {"a", "b"}) pod({.name = name});
  pod({.name = "large", .cpu = "4"});
  lab.run();
  EXPECT_EQ(lab.engine().queue().sizes().gated, 0u);
  EXPECT_EQ(lab.engine().queue().sizes().pool, 3u);
  const QueuedPod* queued = lab.engine().queue().find(lab.find("large")->meta.uid);
  const int32_t before = queued->attempts;
  lab.wait(std::chrono::minutes(6));
  EXPECT_GT(queued->attempts, before);
  const auto sizes = lab.engine().queue().sizes();
  EXPECT_EQ(sizes.active + sizes.backoff + sizes.pool + sizes.gated, 3u);
}

TEST_F(PermitGangs, members_wait_until_enough_have_a_node) {
  node("n1", "8");
  pod({.name = "a", .min = "2"});
  pod({.name = "b", .min = "2"});
  lab.run();
  EXPECT_EQ(placed({"a", "b"}), 2);
  EXPECT_EQ(lab.annotation("b", "internal.scheduling.koordinator.sh/bind-gang-member-count"), "2");
  pod({.name = "late", .min = "2"});
  lab.run();
  EXPECT_EQ(placed({"late"}), 1);
  EXPECT_EQ(lab.annotation("late", "internal.scheduling.koordinator.sh/bind-gang-member-count"),
            "");
}

TEST_F(PermitGangs, one_that_fails_takes_those_that_wait_with_it) {
  node("n1", "2");
  for (auto name : {"a", "b", "c"}) pod({.name = name});
  lab.run();
  EXPECT_EQ(placed({"a", "b", "c"}), 0);
  EXPECT_EQ(waiting(), 0u);
  EXPECT_NE(lab.said("a").find("alreadyWaitForBound: 2"), std::string::npos) << lab.said("a");
  EXPECT_FALSE(lab.engine().ready());  // what they gave back wakes others, not themselves
  EXPECT_EQ(lab.cluster().table.podCount()[0], 0);
}

TEST_F(PermitGangs, not_strict_holds_what_it_has_until_its_time_is_over) {
  const std::string more =
      std::string(kNonStrict) + R"(,"gang.scheduling.koordinator.sh/waiting-time":"30s")";
  node("n1", "2");
  for (auto name : {"a", "b", "c"}) pod({.name = name, .more = more});
  lab.run();
  EXPECT_EQ(waiting(), 2u);
  EXPECT_EQ(placed({"a", "b", "c"}), 0);
  lab.wait(std::chrono::seconds(20));
  EXPECT_EQ(waiting(), 2u);
  node("n2", "2");
  lab.wait(std::chrono::seconds(9));
  EXPECT_EQ(placed({"a", "b", "c"}), 3);
}

TEST_F(PermitGangs, a_timeout_of_one_frees_the_whole_strict_group) {
  const std::string more = R"(,"gang.scheduling.koordinator.sh/waiting-time":"5s")";
  node("n1", "8");
  for (auto name : {"a", "b"}) pod({.name = name, .min = "2", .more = more});
  // One of the two is bound by somebody who says no: the other one waits no longer than its time.
  lab.engine().scheduleOne();
  EXPECT_EQ(waiting(), 1u);
  lab.removePod(lab.engine().waitingPods().waiting()[0]->pod->meta.name.view() == "a" ? "b" : "a");
  lab.wait(std::chrono::seconds(6));
  EXPECT_EQ(waiting(), 0u);
  EXPECT_EQ(lab.cluster().table.podCount()[0], 0);
}

// Thousands of refusals that cause each other must not use the stack up.
TEST_F(PermitGangs, rejecting_a_large_gang_does_not_recurse) {
  constexpr int kMembers = 2000;
  for (int i = 0; i < 40; i++) node("n" + std::to_string(i), "50");
  for (int i = 0; i < kMembers; i++) pod({.name = "p" + std::to_string(i), .min = "2001"});
  pod({.name = "big", .min = "2001", .cpu = "60"});
  lab.run();
  EXPECT_EQ(waiting(), 0u);
  int64_t pods = 0;
  for (Row row = 0; row < lab.cluster().table.rows(); row++)
    pods += lab.cluster().table.podCount()[row];
  EXPECT_EQ(pods, 0);
}

}  // namespace
}  // namespace mangrove::placement
