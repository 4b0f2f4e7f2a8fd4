// What is written about gangs, whom they evict, and where they go in the network.
#include <gtest/gtest.h>

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
