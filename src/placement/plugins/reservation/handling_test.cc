// Reservations on a table, beyond the cases: who sees them, what is handed over, what leaves no trace.
#include "placement/testing/reservation_lab.h"

namespace mangrove::placement {
namespace {

TEST_F(Reservations, strangers_do_not_see_the_room) {
  node("n1", "8");
  reserve({.name = "r", .cpu = "6"});
  pod({.name = "stranger", .cpu = "4", .app = "y"});
  EXPECT_EQ(lab.nodeOf("stranger"), "");
  pod({.name = "over",
       .cpu = "4",
       .app = "y",
       .labels = R"(,"scheduling.koordinator.sh/reservation-ignored":"true")"});
  EXPECT_EQ(lab.nodeOf("over"), "n1");
  EXPECT_EQ(lab.annotation("over", kAllocated), "");
}

TEST_F(Reservations, owners_may_be_named) {
  node("n1", "8");
  reserve(
      {.name = "r", .cpu = "6", .owners = R"([{"object":{"namespace":"default","name":"b"}}])"});
  pod({.name = "a", .cpu = "4"});
  EXPECT_EQ(lab.nodeOf("a"), "");
  pod({.name = "b", .cpu = "4"});
  EXPECT_TRUE(isIn("b", "r")) << lab.said("b");
}

TEST_F(Reservations, exact_amounts_are_wanted_where_the_pod_says_so) {
  node("n1");
  reserve({.name = "r", .cpu = "4"});
  const std::string exact = R"("scheduling.koordinator.sh/exact-match-reservation":)"
                            R"("{\"resourceNames\":[\"cpu\"]}")";
  pod({.name = "less", .cpu = "3", .annotations = exact});
  EXPECT_FALSE(isIn("less", "r"));
  pod({.name = "same", .cpu = "4", .annotations = exact});
  EXPECT_TRUE(isIn("same", "r"));
}

TEST_F(Reservations, a_pinned_one_goes_there_or_nowhere) {
  node("n1");
  node("n2", "2");
  reserve({.name = "r", .podSpec = R"(,"nodeName":"n2")"});
  EXPECT_EQ(phase("r"), "");
  reserve({.name = "s", .cpu = "1", .podSpec = R"(,"nodeName":"n2")"});
  EXPECT_EQ(nodeOfReservation("s"), "n2");
}

TEST_F(Reservations, a_refused_binding_leaves_no_trace) {
  node("n1", "8");
  reserve({.name = "r", .cpu = "6"});
  lab.refuseBindings = true;
  pod({.name = "a", .cpu = "2"});
  EXPECT_EQ(cpuOn("n1"), 6000);
  EXPECT_EQ(phase("r"), "Available");
  lab.refuseBindings = false;
  lab.wait(std::chrono::seconds(20));
  EXPECT_TRUE(isIn("a", "r"));
  EXPECT_EQ(phase("r"), "Succeeded");
  EXPECT_EQ(cpuOn("n1"), 2000);
}

TEST_F(Reservations, host_ports_are_handed_over) {
  node("n1", "8");
  const std::string ports = R"([{"containerPort":80,"hostPort":80}])";
  lab.reservation(
      R"({"metadata":{"name":"r"},"spec":{"owners":[{"labelSelector":{"matchLabels":{"app":"x"}}}],
          "template":{"spec":{"containers":[{"name":"c","ports":)" +
      ports + "}]}}}}");
  lab.run();
  const auto wants = [&](const std::string& name, const std::string& app) {
    lab.pod(R"({"metadata":{"name":")" + name + R"(","labels":{"app":")" + app +
            R"("}},"spec":{"containers":[{"name":"c","ports":)" + ports + "}]}}");
    lab.run();
  };
  wants("stranger", "y");
  EXPECT_EQ(lab.nodeOf("stranger"), "");
  wants("owner", "x");
  EXPECT_EQ(lab.nodeOf("owner"), "n1") << lab.said("owner");
}

// What a migration needs: the stand-in has the labels of the pod that will take its place.
TEST_F(Reservations, do_not_repel_their_own_owners) {
  node("n1", "8", R"({"kubernetes.io/hostname":"n1"})");
  const std::string apart =
      R"(,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
          {"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"x"}}}]}})";
  lab.reservation(
      R"({"metadata":{"name":"r"},"spec":{"owners":[{"labelSelector":{"matchLabels":{"app":"x"}}}],
          "template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c",
          "resources":{"requests":{"cpu":"2"}}}])" +
      apart + "}}}}");
  lab.run();
  ASSERT_EQ(phase("r"), "Available");
  pod({.name = "a", .cpu = "2", .spec = apart});
  EXPECT_TRUE(isIn("a", "r")) << lab.said("a");
}

TEST_F(Reservations, a_running_pod_may_be_one) {
  node("n1", "4");
  lab.pod(R"({"metadata":{"name":"idle","labels":{"scheduling.koordinator.sh/operating-mode":
      "Reservation"},"annotations":{"scheduling.koordinator.sh/reservation-owners":
      "[{\"labelSelector\":{\"matchLabels\":{\"app\":\"x\"}}}]"}},
      "spec":{"nodeName":"n1","containers":[{"name":"c","resources":{"requests":{"cpu":"3"}}}]},
      "status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
  pod({.name = "stranger", .cpu = "2", .app = "y"});
  EXPECT_EQ(lab.nodeOf("stranger"), "");
  pod({.name = "a", .cpu = "2"});
  EXPECT_TRUE(isIn("a", "idle")) << lab.said("a");
  EXPECT_EQ(cpuOn("n1"), 3000);
  lab.removePod("a");
  EXPECT_EQ(cpuOn("n1"), 3000);
}

TEST_F(Reservations, are_nobodys_victims) {
  node("n1", "4");
  reserve({.name = "r", .podSpec = R"(,"priority":1)"});
  pod({.name = "a", .cpu = "2", .app = "y", .spec = R"(,"priority":1000)"});
  EXPECT_EQ(lab.nodeOf("a"), "");
  EXPECT_EQ(phase("r"), "Available");
}

TEST_F(Reservations, status_is_written_only_when_something_changed) {
  node("n1");
  reserve({.name = "r", .spec = kMany});
  pod({.name = "a"});
  lab.wait(std::chrono::seconds(5));
  lab.takeLog();
  lab.wait(std::chrono::seconds(60));
  for (const std::string& line : lab.takeLog())
    EXPECT_FALSE(line.starts_with("Reservation")) << line;
}

TEST_F(Reservations, broken_ones_serve_nobody_and_crash_nothing) {
  node("n1");
  lab.reservation(R"({"metadata":{"name":"empty"},"spec":{}})");
  reserve({.name = "policy", .policy = "Generous"});
  reserve({.name = "json", .annotations = R"("node.koordinator.sh/reservation":"{")"});
  pod({.name = "a", .affinity = "{"});
  EXPECT_NE(lab.said("a").find("reservation-affinity"), std::string::npos) << lab.said("a");
  pod({.name = "b", .affinity = "{}"});
  EXPECT_EQ(lab.nodeOf("b"), "");
}

}  // namespace
}  // namespace mangrove::placement
