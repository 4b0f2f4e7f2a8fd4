// What is written about gangs, whom they evict, and where they go in the network.
#include <gtest/gtest.h>

#include "base/os/log.h"
#include "base/text/strings.h"
#include "placement/plugins/coscheduling/pod_group_status.h"
#include "placement/testing/gang_lab.h"

namespace mangrove::placement {
namespace {

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

TEST_F(EvictingGangs, budgets_and_members_that_a_gang_needs_are_spared) {
  node("node-1", "32");
  node("node-2", "32");
  node("node-3", "32");
  const auto weakMember = [&](const std::string& name, const std::string& onNode,
                              const std::string& gang, const std::string& min) {
    pod({.name = name,
         .gang = gang,
         .min = min,
         .cpu = "16",
         .spec = R"("nodeName":")" + onNode + R"(",)",
         .priority = 1});
  };
  // Of three nodes the first has a gang that needs both, the second one behind a budget, the third
  // a member beyond what its gang needs.
  weakMember("both-a", "node-1", "both", "2");
  weakMember("both-b", "node-1", "both", "2");
  for (auto name : {"guarded-a", "guarded-b"})
    lab.pod(
        std::string(R"({"metadata":{"name":")") + name +
        R"(","labels":{"app":"guarded"}},"spec":{"priority":1,"nodeName":"node-2","containers":[{"name":"c","resources":{"requests":{"cpu":"16"}}}]}})");
  weakMember("more-a", "node-3", "more", "1");
  weakMember("more-b", "node-3", "more", "1");
  auto budget = api::decodeText<api::PodDisruptionBudget>(
      R"({"metadata":{"namespace":"default","name":"guarded"},"spec":{"selector":{"matchLabels":{"app":"guarded"}}},"status":{"disruptionsAllowed":0}})");
  lab.cluster().budgets.put("default/guarded",
                            std::make_shared<api::PodDisruptionBudget>(std::move(*budget)));
  pod({.name = "x", .gang = "strong", .min = "1", .cpu = "16", .priority = 100});
  lab.run();
  lab.wait(std::chrono::seconds(15));
  EXPECT_EQ(placed({"both-a", "both-b", "guarded-a", "guarded-b"}), 4);
  EXPECT_EQ(placed({"more-a", "more-b"}), 1);
  EXPECT_EQ(lab.nodeOf("x"), "node-3");
}

TEST_F(EvictingGangs, a_gang_that_would_be_left_with_too_few_goes_whole) {
  node("node-1", "16");
  node("node-2", "16");
  for (auto name : {"-1", "-2"})
    pod({.name = std::string("weak") + name,
         .gang = "weak",
         .min = "2",
         .cpu = "16",
         .spec = std::string(R"("nodeName":"node)") + name + R"(",)",
         .priority = 1});
  pod({.name = "x", .gang = "strong", .min = "1", .cpu = "16", .priority = 100});
  lab.run();
  const std::string told = join(lab.takeLog(), "\n");
  EXPECT_NE(told.find("weak-1 preempted by"), std::string::npos) << told;
  EXPECT_NE(told.find("weak-2 preempted by"), std::string::npos) << told;
}

// The reference's machine: who has a node keeps it for when the victims are gone.
class EvictingPermitGangs : public Gangs {
 protected:
  EvictingPermitGangs() : Gangs(R"({"placeWhole":false,"enablePreemption":true})") {}
  void weak(const std::string& name, const std::string& onNode, int priority = 1) {
    lab.pod(R"({"metadata":{"name":")" + name + R"("},"spec":{"priority":)" +
            std::to_string(priority) + R"(,"nodeName":")" + onNode +
            R"(","containers":[{"name":"c","resources":{"requests":{"cpu":"16"}}}]}})");
  }
  std::string nominated(const std::string& name) {
    return lab.cluster().nominatedNode(lab.find(name)->meta.uid).str();
  }
};

TEST_F(EvictingPermitGangs, a_member_that_waits_is_sent_back_and_keeps_its_node) {
  node("node-1", "32");
  node("node-2", "32");
  for (auto name : {"one-a", "one-b"}) weak(name, "node-1");
  weak("two", "node-2");
  lab.keepVictims = true;
  for (auto name : {"a", "b"}) pod({.name = name, .min = "2", .cpu = "16", .priority = 100});
  lab.run();
  EXPECT_EQ(waiting(), 0u);
  const std::string waited = nominated("a") == "node-2" ? "a" : "b";
  const std::string other = waited == "a" ? "b" : "a";
  EXPECT_EQ(nominated(waited), "node-2");
  EXPECT_EQ(nominated(other), "node-1");
  EXPECT_NE(lab.said(waited).find("alreadyWaitingForBound: 1/2"), std::string::npos)
      << lab.said(waited);
  const std::string told = join(lab.takeLog(), "\n");
  EXPECT_NE(told.find(waited + " nominated to node-2"), std::string::npos) << told;
  EXPECT_NE(told.find("one-b preempted by " + other), std::string::npos) << told;
  EXPECT_EQ(told.find("two preempted by"), std::string::npos) << told;
  lab.removePod("one-b");
  lab.wait(std::chrono::seconds(15));
  EXPECT_EQ(lab.nodeOf(waited) + lab.nodeOf(other), "node-2node-1");
}

TEST_F(EvictingPermitGangs, nobody_goes_and_nothing_is_kept_when_evicting_is_not_enough) {
  node("node-1", "32");
  node("node-2", "32");
  for (auto name : {"one-a", "one-b"}) weak(name, "node-1", 1000);
  weak("two", "node-2");
  for (auto name : {"a", "b", "c"}) pod({.name = name, .cpu = "16", .priority = 100});
  lab.run();
  EXPECT_EQ(waiting(), 0u);
  for (auto name : {"a", "b", "c"}) EXPECT_EQ(nominated(name), "") << name;
  const std::string told = join(lab.takeLog(), "\n");
  EXPECT_EQ(told.find("preempted by"), std::string::npos) << told;
  EXPECT_NE(told.find("would not make enough room, alreadyWaitingForBound: 1/3"), std::string::npos)
      << told;
}

TEST_F(Gangs, says_to_whom_it_matters_that_the_network_is_not_looked_at) {
  node("n1", "8");
  pod({.name = "a",
       .min = "1",
       .more =
           R"(,"gang.scheduling.koordinator.sh/network-topology-spec":"{\"gatherStrategy\":[]}")"});
  lab.run();
  const std::string told = join(lab.takeLog(), "\n");
  EXPECT_NE(told.find("a ignored: its network-topology-spec is ignored; set awareNetworkTopology"),
            std::string::npos)
      << told;
  EXPECT_EQ(lab.nodeOf("a"), "n1");
}

class NetworkGangs : public Gangs {
 protected:
  explicit NetworkGangs(std::string_view args = R"({"awareNetworkTopology":true})") : Gangs(args) {
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
  void members(int count, int priority = 0) {
    for (int i = 0; i < count; i++)
      pod({.name = "w-" + std::to_string(i),
           .min = std::to_string(count),
           .more =
               R"(,"gang.scheduling.koordinator.sh/network-topology-index":")" + std::to_string(i) +
               R"(","gang.scheduling.koordinator.sh/network-topology-spec":"{\"gatherStrategy\":[{\"layer\":\"BlockLayer\",\"strategy\":\"MustGather\"}]}")",
           .priority = priority});
  }
  void ofKind(const std::string& name, const std::string& kind, const std::string& onNode = "") {
    lab.pod(R"({"metadata":{"name":")" + name +
            R"(","annotations":{"scheduling.koordinator.sh/network-topology-selector":")" + kind +
            R"("}},"spec":{"nodeName":")" + onNode +
            R"(","containers":[{"name":"c","resources":{"requests":{"cpu":"10m"}}}]}})");
  }
};

TEST_F(NetworkGangs, single_pods_are_drawn_to_their_kind) {
  topology();
  ofKind("first", "job=x", "n4");
  for (int i = 0; i < 2; i++) ofKind("x" + std::to_string(i), "job=x");
  lab.run();
  EXPECT_EQ(lab.nodeOf("x0") + lab.nodeOf("x1"), "n4n4");
  lab.pod(
      R"({"metadata":{"name":"filler"},"spec":{"nodeName":"n4","containers":[{"name":"c","resources":{"requests":{"cpu":"2970m"}}}]}})");
  ofKind("x2", "job=x");  // the node is full: beside it, in the same block
  lab.run();
  EXPECT_EQ(lab.nodeOf("x2"), "n3");
  ofKind("other", "job=y", "n1");
  ofKind("y", "job=y");
  lab.run();
  EXPECT_EQ(lab.nodeOf("y"), "n1");
}

TEST_F(NetworkGangs, the_status_says_which_places_there_are) {
  topology();
  lab.engine().report();
  lab.run();
  std::string told = join(lab.takeLog(), "\n");
  EXPECT_NE(
      told.find(
          R"("detailStatus":[{"topologyInfo":{"topologyLayer":"ClusterTopologyLayer"},"childTopologyLayer":"BlockLayer","childTopologyNames":["b1","b2"],"nodeNum":4},{"topologyInfo":{"topologyLayer":"BlockLayer","topologyName":"b1"},"parentTopologyInfo":{"topologyLayer":"ClusterTopologyLayer"},"childTopologyLayer":"NodeTopologyLayer","nodeNum":2})"),
      std::string::npos)
      << told;
  lab.engine().report();  // nothing has changed
  EXPECT_EQ(join(lab.takeLog(), "\n").find("detailStatus"), std::string::npos);
  lab.removeNode("n4");
  lab.engine().report();
  told = join(lab.takeLog(), "\n");
  EXPECT_NE(told.find(R"("childTopologyNames":["b1","b2"],"nodeNum":3)"), std::string::npos)
      << told;
}

TEST_F(NetworkGangs, an_object_whose_layers_lead_nowhere_changes_nothing) {
  topology();
  lab.engine().report();
  auto broken = std::make_shared<api::ClusterNetworkTopology>(*lab.cluster().network);
  broken->spec.networkTopologySpec.erase(broken->spec.networkTopologySpec.begin());
  lab.cluster().network = broken;
  lab.cluster().networkGeneration++;
  const LogCapture quiet;
  members(6);
  lab.run();
  for (int i = 0; i < 6; i++)
    EXPECT_EQ(lab.nodeOf("w-" + std::to_string(i)), i < 3 ? "n3" : "n4") << lab.said("w-0");
}

class EvictingNetworkGangs : public NetworkGangs {
 protected:
  EvictingNetworkGangs()
      : NetworkGangs(R"({"awareNetworkTopology":true,"enablePreemption":true})") {}
};

TEST_F(EvictingNetworkGangs, room_is_made_in_one_place_where_it_does_least_harm) {
  topology();
  // Both blocks are full; the smaller one would do for all of them, and no node alone.
  int number = 0;
  const auto fill = [&](const std::string& onNode, int count, int priority) {
    for (int i = 0; i < count; i++)
      lab.pod(R"({"metadata":{"name":"f)" + std::to_string(number++) + R"("},"spec":{"priority":)" +
              std::to_string(priority) + R"(,"nodeName":")" + onNode +
              R"(","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})");
  };
  fill("n1", 5, 5);
  fill("n2", 5, 5);
  fill("n3", 3, 1);
  fill("n4", 3, 1);
  members(6, 100);
  lab.run();
  lab.wait(std::chrono::seconds(15));
  for (int i = 0; i < 6; i++)
    EXPECT_EQ(lab.nodeOf("w-" + std::to_string(i)), i < 3 ? "n3" : "n4") << lab.said("w-0");
  for (int i = 0; i < 10; i++) EXPECT_NE(lab.nodeOf("f" + std::to_string(i)), "") << i;
}

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
