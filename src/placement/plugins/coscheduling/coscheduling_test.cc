// Gangs on a table: who stands in line, who waits, who is placed with whom.
#include <gtest/gtest.h>

#include "base/text/strings.h"
#include "placement/plugins/coscheduling/pod_group_status.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

struct Wish {
  std::string name, gang = "g", min = "3", cpu = "1";
  std::string more = "";  // further annotations, with a leading comma
  std::string spec = "";  // further members of the spec, with a trailing comma
  int priority = 0;
};

std::string text(const Wish& w) {
  return R"({"metadata":{"name":")" + w.name +
         R"(","annotations":{"gang.scheduling.koordinator.sh/name":")" + w.gang +
         R"(","gang.scheduling.koordinator.sh/min-available":")" + w.min + R"(")" + w.more +
         R"(}},"spec":{"priority":)" + std::to_string(w.priority) + "," + w.spec +
         R"("containers":[{"name":"c","resources":{"requests":{"cpu":")" + w.cpu + R"("}}}]}})";
}

constexpr auto kNonStrict = R"(,"gang.scheduling.koordinator.sh/mode":"NonStrict")";

SchedulerConfig configWith(std::string_view args) {
  SchedulerConfig config = defaultConfig({"default-scheduler"});
  config.profiles[0].args["Coscheduling"] = *json::parse(args);
  return config;
}

class Gangs : public ::testing::Test {
 protected:
  explicit Gangs(std::string_view args = "{}") : lab(configWith(args)) {}
  void node(const std::string& name, const std::string& cpu) {
    lab.node(R"({"metadata":{"name":")" + name + R"("},"status":{"allocatable":{"cpu":")" + cpu +
             R"(","memory":"64Gi"}}})");
  }
  void pod(const Wish& wish) { lab.pod(text(wish)); }
  int placed(const std::vector<std::string>& names) const {
    int count = 0;
    for (const auto& name : names) count += !lab.nodeOf(name).empty();
    return count;
  }
  json::Object gang(const std::string& id) {
    auto page = lab.engine().profiles()[0]->find("Coscheduling")->serve("gang/default/" + id);
    return page ? page->as_object() : json::Object();
  }
  size_t waiting() { return lab.engine().waitingPods().waiting().size(); }
  std::string podGroup(const std::string& name, int min) {
    auto group =
        api::decodeText<api::PodGroup>(R"({"metadata":{"namespace":"default","name":")" + name +
                                       R"("},"spec":{"minMember":)" + std::to_string(min) + "}}");
    lab.cluster().putPodGroup("default/" + name,
                              std::make_shared<api::PodGroup>(std::move(*group)));
    return name;
  }

  Lab lab;
};

// The reference's machine: member by member, waiting at Permit.
class PermitGangs : public Gangs {
 protected:
  PermitGangs() : Gangs(R"({"placeWhole":false})") {}
};

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

struct Phase {
  std::string before;
  GroupCounts counts;
  int32_t min;
  std::string after;
};

TEST(PodGroups, go_from_phase_to_phase) {
  const Phase phases[] = {
      {"", {}, 2, "Pending"},
      {"Pending", {.members = 1}, 2, "Pending"},
      {"Pending", {.members = 2, .owners = "ns/job"}, 2, "PreScheduling"},
      {"Pending", {.members = 2}, 0, "Pending"},
      {"PreScheduling", {.members = 2, .scheduled = 1}, 2, "Scheduling"},
      {"Scheduling", {.members = 2, .scheduled = 2}, 2, "Scheduled"},
      {"Scheduled", {.members = 2, .scheduled = 2, .running = 2}, 2, "Running"},
      {"Running", {.members = 2, .scheduled = 2, .running = 1, .failed = 1}, 2, "Failed"},
      {"Running", {.members = 2, .scheduled = 2, .succeeded = 2}, 2, "Finished"},
      {"Running", {}, 2, "Pending"},
  };
  for (const Phase& phase : phases) {
    api::PodGroup group;
    group.spec.minMember = phase.min;
    group.status.phase = phase.before;
    const WallTime now{std::chrono::seconds(1000)};
    const auto next = nextStatus(group, phase.counts, now);
    EXPECT_EQ(next.phase, phase.after) << phase.before;
    EXPECT_EQ(next.occupiedBy, phase.after == "PreScheduling" ? "ns/job" : "");
    EXPECT_EQ(next.scheduleStartTime, phase.after == "Scheduling" ? now : kZeroTime);
    group.status = next;
    EXPECT_EQ(isSettled(group), phase.after == "Failed" || phase.after == "Finished");
  }
}

TEST_F(Gangs, the_pod_group_is_told_how_far_its_gang_has_come) {
  node("n1", "8");
  podGroup("pg", 1);
  lab.pod(
      R"({"metadata":{"name":"a","labels":{"pod-group.scheduling.sigs.k8s.io":"pg"}},"spec":{"containers":[{"name":"c"}]}})");
  lab.engine().report();
  lab.run();
  const std::string told = join(lab.takeLog(), "\n");
  EXPECT_NE(told.find(R"(PodGroup default/pg {"status":{"phase":"Pending"}})"), std::string::npos)
      << told;
}

class EvictingGangs : public Gangs {
 protected:
  EvictingGangs() : Gangs(R"({"enablePreemption":true})") {}
  void weak(const std::string& name, const std::string& onNode) {
    lab.pod(R"({"metadata":{"name":")" + name + R"("},"spec":{"priority":1,"nodeName":")" + onNode +
            R"(","containers":[{"name":"c","resources":{"requests":{"cpu":"16"}}}]}})");
  }
  void fillTwoNodes() {
    for (auto name : {"node-1", "node-2"}) {
      node(name, "32");
      for (auto number : {"-a", "-b"}) weak(std::string(name) + number, name);
    }
  }
};

TEST_F(EvictingGangs, two_members_take_one_node_and_its_victims) {
  fillTwoNodes();
  for (auto name : {"a", "b"}) pod({.name = name, .min = "2", .cpu = "16", .priority = 100});
  lab.run();
  const std::string told = join(lab.takeLog(), "\n");
  EXPECT_NE(told.find("node-1-a preempted by"), std::string::npos) << told;
  EXPECT_NE(told.find("node-1-b preempted by"), std::string::npos) << told;
  EXPECT_EQ(told.find("node-2-a preempted by"), std::string::npos) << told;
  lab.wait(std::chrono::seconds(15));
  EXPECT_EQ(lab.nodeOf("a") + lab.nodeOf("b"), "node-1node-1");
  EXPECT_EQ(placed({"node-2-a", "node-2-b"}), 2);
}

TEST_F(EvictingGangs, a_third_member_is_counted_beside_the_two) {
  fillTwoNodes();
  for (auto name : {"a", "b", "c"}) pod({.name = name, .min = "3", .cpu = "16", .priority = 100});
  lab.run();
  lab.wait(std::chrono::seconds(15));
  EXPECT_EQ(placed({"a", "b", "c"}), 3);
  EXPECT_EQ(placed({"node-2-a", "node-2-b"}), 1);  // one of the two was not in the way
}

TEST_F(EvictingGangs, nobody_is_evicted_when_that_would_not_be_enough) {
  fillTwoNodes();
  for (int i = 0; i < 5; i++)
    pod({.name = "p" + std::to_string(i), .min = "5", .cpu = "16", .priority = 100});
  lab.run();
  const std::string told = join(lab.takeLog(), "\n");
  EXPECT_EQ(told.find("preempted by"), std::string::npos) << told;
  EXPECT_NE(told.find("would not make enough room"), std::string::npos) << told;
}

class NetworkGangs : public Gangs {
 protected:
  NetworkGangs() : Gangs(R"({"awareNetworkTopology":true})") {
    for (const auto& [name, block] : {std::pair("n1", "b1"), std::pair("n2", "b1"),
                                      std::pair("n3", "b2"), std::pair("n4", "b2")})
      lab.node(std::string(R"({"metadata":{"name":")") + name + R"(","labels":{"block":")" + block +
               R"("}},"status":{"allocatable":{"cpu":")" +
               (block == std::string("b1") ? "5" : "3") + R"(","memory":"64Gi"}}})");
  }
  void topology() {
    auto network = std::make_shared<api::ClusterNetworkTopology>();
    network->spec.networkTopologySpec = {{"BlockLayer", "ClusterTopologyLayer", {"block"}},
                                         {"NodeTopologyLayer", "BlockLayer", {}}};
    lab.cluster().network = network;
    lab.cluster().networkGeneration++;
  }
  void members(int count) {
    for (int i = 0; i < count; i++)
      pod({.name = "w-" + std::to_string(i),
           .min = std::to_string(count),
           .more =
               R"(,"gang.scheduling.koordinator.sh/network-topology-index":")" + std::to_string(i) +
               R"(","gang.scheduling.koordinator.sh/network-topology-spec":"{\"gatherStrategy\":[{\"layer\":\"BlockLayer\",\"strategy\":\"MustGather\"}]}")"});
  }
};

TEST_F(NetworkGangs, the_tightest_block_takes_everybody_in_the_order_of_their_index) {
  topology();
  members(6);
  lab.run();
  for (int i = 0; i < 6; i++)
    EXPECT_EQ(lab.nodeOf("w-" + std::to_string(i)), i < 3 ? "n3" : "n4") << lab.said("w-0");
}

TEST_F(NetworkGangs, says_what_is_missing) {
  members(2);
  lab.run();
  EXPECT_NE(lab.said("w-0").find("no cluster network topology"), std::string::npos)
      << lab.said("w-0");
  topology();
  for (int i = 0; i < 2; i++) lab.removePod("w-" + std::to_string(i));
  members(13);
  lab.run();
  EXPECT_NE(lab.said("w-0").find("13 members must stay in one place of layer BlockLayer"),
            std::string::npos)
      << lab.said("w-0");
}

}  // namespace
}  // namespace mangrove::placement
