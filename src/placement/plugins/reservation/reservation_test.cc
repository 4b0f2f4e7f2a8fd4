// Reservations on a table: the cases of the reference, and what becomes of each.
#include "placement/testing/reservation_lab.h"

namespace mangrove::placement {
namespace {

TEST_F(Reservations, are_placed_like_pods_and_say_where) {
  node("n1");
  reserve({.name = "r", .cpu = "6"});
  EXPECT_EQ(phase("r"), "Available");
  EXPECT_EQ(nodeOfReservation("r"), "n1");
  EXPECT_EQ(condition("r", "Scheduled"), "True/Scheduled");
  EXPECT_EQ(condition("r", "Ready"), "True/Available");
  EXPECT_EQ(lab.findReservation("r")->status.allocatable.cpu().v, 6000);
  EXPECT_EQ(cpuOn("n1"), 6000);
}

TEST_F(Reservations, without_a_place_wait_and_say_why) {
  node("n1", "4");
  reserve({.name = "r", .cpu = "6"});
  EXPECT_EQ(phase("r"), "");
  EXPECT_EQ(saidOf("r"),
            "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are "
            "available: 1 Preemption is not helpful for scheduling.");
  node("n2", "8");
  lab.wait(std::chrono::seconds(30));
  EXPECT_EQ(nodeOfReservation("r"), "n2");
}

// The nodes of several reservations are compared by everybody's scores, also when no other node has
// been looked at for a pod of this kind.
TEST_F(Reservations, on_several_nodes_are_chosen_from_by_spread) {
  node("n1", "32", R"({"kubernetes.io/hostname":"n1"})");
  node("n2", "32", R"({"kubernetes.io/hostname":"n2"})");
  reserve({.name = "r1", .podSpec = R"(,"nodeSelector":{"kubernetes.io/hostname":"n1"})"});
  reserve({.name = "r2", .podSpec = R"(,"nodeSelector":{"kubernetes.io/hostname":"n2"})"});
  ASSERT_EQ(nodeOfReservation("r1") + nodeOfReservation("r2"), "n1n2");
  pod({.name = "sibling", .app = "x", .spec = R"(,"nodeName":"n1")"});
  pod({.name = "a",
       .spec =
           R"(,"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"kubernetes.io/hostname",)"
           R"("whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"app":"x"}}}])"});
  EXPECT_TRUE(isIn("a", "r2")) << lab.said("a") << ", " << lab.nodeOf("a");
}

// Case 60.
TEST_F(Reservations, aligned_gives_what_it_holds_and_the_node_the_rest) {
  node("n1");
  reserve({.name = "r", .cpu = "6"});
  filler("n1", "24");
  pod({.name = "stranger", .cpu = "3", .app = "y"});
  EXPECT_EQ(lab.nodeOf("stranger"), "");
  pod({.name = "a", .cpu = "8"});
  EXPECT_EQ(lab.nodeOf("a"), "n1");
  EXPECT_TRUE(isIn("a", "r"));
  EXPECT_EQ(cpuOn("n1"), 32000);
}
TEST_F(Reservations, aligned_does_not_overfill_the_node) {
  node("n1");
  reserve({.name = "r", .cpu = "6"});
  filler("n1", "26");
  pod({.name = "a", .cpu = "8", .affinity = "{}"});
  EXPECT_EQ(lab.nodeOf("a"), "");
  EXPECT_NE(lab.said("a").find("Insufficient cpu"), std::string::npos) << lab.said("a");
}

// Case 61.
TEST_F(Reservations, restricted_serves_from_itself_alone) {
  node("n1");
  reserve({.name = "r", .cpu = "6", .policy = "Restricted"});
  pod({.name = "must", .cpu = "8", .affinity = "{}"});
  EXPECT_EQ(lab.nodeOf("must"), "");
  EXPECT_NE(lab.said("must").find("Reservation(s) Insufficient cpu"), std::string::npos)
      << lab.said("must");
  filler("n1", "18");
  pod({.name = "may", .cpu = "8"});
  EXPECT_EQ(lab.nodeOf("may"), "n1");
  EXPECT_FALSE(isIn("may", "r"));
  pod({.name = "six", .cpu = "6"});
  EXPECT_TRUE(isIn("six", "r"));
}

// Case 62.
TEST_F(Reservations, restricted_counts_pods_when_it_reserves_them) {
  node("n1");
  reserve({.name = "r",
           .cpu = "6",
           .policy = "Restricted",
           .spec = kMany,
           .annotations = R"("scheduling.koordinator.sh/reservation-resize-allocatable":)"
                          R"("{\"resources\":{\"pods\":\"2\"}}")"});
  for (auto name : {"a", "b"}) {
    pod({.name = name, .affinity = "{}"});
    EXPECT_TRUE(isIn(name, "r")) << lab.said(name);
  }
  pod({.name = "c", .affinity = "{}"});
  EXPECT_EQ(lab.nodeOf("c"), "");
  EXPECT_NE(lab.said("c").find("Reservation(s) Too many pods"), std::string::npos) << lab.said("c");
}

// Case 63.
TEST_F(Reservations, restricted_options_leave_other_names_to_the_node) {
  node("n1");
  reserve({.name = "r",
           .cpu = "6",
           .memory = "8Gi",
           .policy = "Restricted",
           .annotations = R"("scheduling.koordinator.sh/reservation-restricted-options":)"
                          R"("{\"resources\":[\"cpu\"]}")"});
  pod({.name = "a", .cpu = "4", .memory = "12Gi", .affinity = "{}"});
  EXPECT_TRUE(isIn("a", "r")) << lab.said("a");
}

// Case 64.
TEST_F(Reservations, inner_amounts_are_for_nobody) {
  node("n1");
  reserve(
      {.name = "r",
       .cpu = "6",
       .policy = "Restricted",
       .annotations = R"("node.koordinator.sh/reservation":"{\"resources\":{\"cpu\":\"2\"}}")"});
  pod({.name = "five", .cpu = "5", .affinity = "{}"});
  EXPECT_EQ(lab.nodeOf("five"), "");
  pod({.name = "four", .cpu = "4", .affinity = "{}"});
  EXPECT_TRUE(isIn("four", "r"));
}

// Case 65.
TEST_F(Reservations, and_their_owners_count_once) {
  node("n1");
  reserve({.name = "r", .cpu = "8", .spec = kMany});
  pod({.name = "a", .cpu = "4"});
  EXPECT_TRUE(isIn("a", "r"));
  EXPECT_EQ(cpuOn("n1"), 8000);
  pod({.name = "big", .cpu = "10"});
  EXPECT_TRUE(isIn("big", "r"));
  EXPECT_EQ(cpuOn("n1"), 14000);
  lab.removePod("big");
  EXPECT_EQ(cpuOn("n1"), 8000);
  lab.removePod("a");
  EXPECT_EQ(cpuOn("n1"), 8000);
}

// Case 66.
TEST_F(Reservations, for_one_owner_are_spent_by_it) {
  node("n1", "8");
  reserve({.name = "r", .cpu = "6"});
  pod({.name = "a", .cpu = "2"});
  EXPECT_TRUE(isIn("a", "r"));
  EXPECT_EQ(cpuOn("n1"), 6000);  // until the object says that it is over
  pod({.name = "b", .cpu = "4"});
  EXPECT_EQ(lab.nodeOf("b"), "");
  lab.wait(std::chrono::seconds(2));
  EXPECT_EQ(phase("r"), "Succeeded");
  EXPECT_EQ(lab.nodeOf("b"), "n1") << lab.said("b");
  EXPECT_FALSE(isIn("b", "r"));
  EXPECT_EQ(condition("r", "Ready"), "False/Succeeded");
  EXPECT_EQ(lab.findReservation("r")->status.currentOwners[0].name, "a");
}
TEST_F(Reservations, for_many_owners_are_shared) {
  node("n1", "4");
  reserve({.name = "r", .cpu = "4", .spec = kMany});
  for (auto name : {"a", "b"}) {
    pod({.name = name, .cpu = "2"});
    EXPECT_TRUE(isIn(name, "r"));
  }
  pod({.name = "c", .cpu = "2"});
  EXPECT_EQ(lab.nodeOf("c"), "");
  lab.wait(std::chrono::seconds(2));
  EXPECT_EQ(phase("r"), "Available");
  EXPECT_EQ(lab.findReservation("r")->status.allocated.cpu().v, 4000);
  EXPECT_EQ(lab.findReservation("r")->status.currentOwners.size(), 2u);
  lab.removePod("a");
  lab.wait(std::chrono::seconds(20));
  EXPECT_TRUE(isIn("c", "r")) << lab.said("c");
}

// Case 67.
TEST_F(Reservations, whoever_is_filled_best_is_taken) {
  for (auto name : {"n1", "n2", "n3"}) node(name, "16");
  reserve({.name = "large", .cpu = "4", .memory = "8Gi"});
  reserve({.name = "right", .cpu = "2", .memory = "4Gi"});
  pod({.name = "a", .cpu = "2", .memory = "4Gi"});
  EXPECT_TRUE(isIn("a", "right"));
  pod({.name = "b", .cpu = "2", .memory = "4Gi"});
  EXPECT_TRUE(isIn("b", "large"));
}
TEST_F(Reservations, the_smallest_order_comes_before_any_score) {
  node("n1", "16");
  node("n2", "16");
  reserve({.name = "second",
           .cpu = "2",
           .labels = R"("scheduling.koordinator.sh/reservation-order":"2")"});
  reserve({.name = "first",
           .cpu = "8",
           .labels = R"("scheduling.koordinator.sh/reservation-order":"1")"});
  reserve({.name = "none", .cpu = "2"});
  for (auto wanted : {"first", "second", "none"}) {
    pod({.name = std::string("for-") + wanted, .cpu = "2"});
    EXPECT_TRUE(isIn(std::string("for-") + wanted, wanted)) << wanted;
  }
}

// Case 68.
TEST_F(Reservations, a_name_means_that_one_whatever_is_said_against_it) {
  node("n1");
  reserve({.name = "r1",
           .spec = R"(,"unschedulable":true,"taints":[{"key":"k","effect":"NoSchedule"}])"});
  reserve({.name = "r2"});
  pod({.name = "a", .affinity = R"({"name":"r1"})"});
  EXPECT_TRUE(isIn("a", "r1")) << lab.said("a");
}
TEST_F(Reservations, an_affinity_without_a_match_is_hopeless) {
  node("n1");
  reserve({.name = "r"});
  pod({.name = "a", .app = "y", .affinity = "{}"});
  EXPECT_EQ(lab.nodeOf("a"), "");
  EXPECT_EQ(
      lab.said("a"),
      "0/1 nodes are available: node(s) no reservations match reservation affinity. "
      "0/1 reservations are available: 0 Reservation(s) matched owner total., preemption: 0/1 "
      "nodes are available: 1 Preemption is not helpful for scheduling.");
  pod({.name = "b", .affinity = R"({"reservationSelector":{"tier":"gold"}})"});
  EXPECT_EQ(lab.nodeOf("b"), "");
  reserve({.name = "gold", .labels = R"("tier":"gold")"});
  lab.wait(std::chrono::seconds(20));
  EXPECT_TRUE(isIn("b", "gold")) << lab.said("b");
}

// Case 69.
TEST_F(Reservations, taints_keep_everybody_out_who_does_not_tolerate_them) {
  node("n1");
  reserve({.name = "r", .spec = R"(,"taints":[{"key":"k","value":"v","effect":"NoSchedule"}])"});
  pod({.name = "a"});
  EXPECT_EQ(lab.nodeOf("a"), "n1");
  EXPECT_FALSE(isIn("a", "r"));
  pod({.name = "b", .affinity = R"({"tolerations":[{"key":"k","operator":"Exists"}]})"});
  EXPECT_TRUE(isIn("b", "r"));
}

// Case 70.
TEST_F(Reservations, the_default_policy_is_alone_on_its_node) {
  node("n1");
  reserve({.name = "aligned"});
  reserve({.name = "default", .policy = ""});
  EXPECT_EQ(phase("default"), "");
  EXPECT_NE(saidOf("default").find("allocate policy cannot coexist"), std::string::npos);
  reserve({.name = "restricted", .policy = "Restricted"});
  EXPECT_EQ(phase("restricted"), "Available");
}

// Case 71.
TEST_F(Reservations, expire_and_are_collected) {
  node("n1");
  reserve({.name = "r", .spec = R"(,"ttl":"1h")"});
  reserve({.name = "ever", .spec = R"(,"ttl":"0s")"});
  reserve({.name = "pending", .cpu = "99", .spec = R"(,"ttl":"1h")"});
  const auto pass = [&](Duration duration) {
    lab.clock().advance(duration);
    lab.wait(std::chrono::seconds(2));
  };
  pass(std::chrono::minutes(59));
  EXPECT_EQ(phase("r"), "Available");
  pass(std::chrono::minutes(2));
  EXPECT_EQ(phase("r"), "Failed");
  EXPECT_EQ(condition("r", "Ready"), "False/Expired");
  EXPECT_EQ(phase("pending"), "Failed");
  EXPECT_EQ(cpuOn("n1"), 4000);  // that which has no end
  pass(std::chrono::hours(23));
  EXPECT_EQ(phase("r"), "Failed");
  pass(std::chrono::minutes(62));
  EXPECT_EQ(phase("r"), "gone");
  EXPECT_EQ(phase("ever"), "Available");
}

// Case 72.
TEST_F(Reservations, end_with_their_node) {
  node("n1");
  reserve({.name = "r"});
  lab.removeNode("n1");
  lab.wait(std::chrono::seconds(2));
  EXPECT_EQ(phase("r"), "Failed");
  EXPECT_EQ(condition("r", "Ready"), "False/Expired");
  lab.wait(std::chrono::seconds(62));
  EXPECT_EQ(phase("r"), "gone");
}

// Case 73.
class TakingOver : public Reservations {
 protected:
  TakingOver() : Reservations(R"({"preAllocationConfig":{"enableClusterMode":true}})") {}
  void running(const std::string& name, const std::string& cpu, int priority) {
    lab.pod(R"({"metadata":{"name":")" + name +
            R"(","labels":{"app":"x","pod.koordinator.sh/is-pre-allocatable":"true"},)" +
            R"("annotations":{"pod.koordinator.sh/pre-allocatable-priority":")" +
            std::to_string(priority) + R"("}},"spec":{"nodeName":"n1","containers":[{"name":"c",)" +
            R"("resources":{"requests":{"cpu":")" + cpu +
            R"("}}}]},"status":{"phase":"Running"}})");
  }
};
TEST_F(TakingOver, several_running_pods_become_owners) {
  node("n1", "10");
  running("two", "2", 3);
  running("three", "3", 2);
  running("four", "4", 1);
  reserve({.name = "r",
           .cpu = "6",
           .policy = "Restricted",
           .spec = R"(,"allocateOnce":false,"preAllocation":true,)"
                   R"("preAllocationPolicy":{"mode":"Cluster","enableMultiple":true})"});
  EXPECT_EQ(phase("r"), "Available") << saidOf("r");
  EXPECT_TRUE(isIn("two", "r"));
  EXPECT_TRUE(isIn("three", "r"));
  EXPECT_FALSE(isIn("four", "r"));
  EXPECT_EQ(cpuOn("n1"), 10000);
  lab.removePod("two");
  EXPECT_EQ(cpuOn("n1"), 10000);
}
TEST_F(TakingOver, wants_the_policy_restricted) {
  node("n1", "10");
  reserve({.name = "r", .spec = R"(,"preAllocation":true)"});
  EXPECT_EQ(phase("r"), "");
  EXPECT_NE(saidOf("r").find("must have allocatePolicy Restricted"), std::string::npos);
}

}  // namespace
}  // namespace mangrove::placement
