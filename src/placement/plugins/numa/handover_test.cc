// CPUs that a reservation holds go to its owners, one by one, and to nobody else.
#include "placement/plugins/numa/handover.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/wire/names.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

// One NUMA node of eight CPUs, two to a core.
void addNode(Lab& lab) {
  lab.node(R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"8","memory":"64Gi"}}})");
  std::string detail;
  for (int cpu = 0; cpu < 8; cpu++)
    detail += fmt::format(R"({}{{\"id\":{},\"core\":{},\"socket\":0,\"node\":0}})", cpu ? "," : "",
                          cpu, cpu / 2);
  auto topology = api::decodeText<api::NodeResourceTopology>(fmt::format(
      R"({{"metadata":{{"name":"n1","annotations":{{"node.koordinator.sh/cpu-topology":"{{\"detail\":[{}]}}"}}}},
          "zones":[{{"name":"node-0","type":"Node","resources":[{{"name":"cpu","allocatable":"8"}}]}}]}})",
      detail));
  ASSERT_TRUE(topology) << topology.error().text();
  lab.cluster().putTopology("n1", std::make_shared<api::NodeResourceTopology>(*topology));
}

std::string meta(const std::string& name, const std::string& app) {
  return R"("metadata":{"name":")" + name + R"(","labels":{"app":")" + app +
         R"(","koordinator.sh/qosClass":"LSR"}})";
}
std::string podSpec(int cpus) {
  return fmt::format(R"({{"priority":9500,"containers":[{{"name":"c","resources":{{
      "requests":{{"cpu":"{0}"}},"limits":{{"cpu":"{0}"}}}}}}]}})",
                     cpus);
}

class Handover : public ::testing::Test {
 protected:
  Handover() { addNode(lab); }
  void reserve(const std::string& policy, int cpus) {
    lab.reservation(R"({"metadata":{"name":"r","labels":{"koordinator.sh/qosClass":"LSR"}},"spec":{
        "owners":[{"labelSelector":{"matchLabels":{"app":"x"}}}],"allocateOnce":false,
        "allocatePolicy":")" +
                    policy + R"(","template":{"spec":)" + podSpec(cpus) + "}}}");
    lab.run();
  }
  void pod(const std::string& name, const std::string& app, int cpus) {
    lab.pod("{" + meta(name, app) + R"(,"spec":)" + podSpec(cpus) + "}");
    lab.run();
  }
  std::string cpusOf(const std::string& pod) const {
    return lab.annotation(pod, api::annotation::kResourceStatus);
  }
  std::string cpusReserved() const {
    return std::string(lab.findReservation("r")
                           ->meta.annotations.get(api::annotation::kResourceStatus)
                           .value_or(""));
  }
  Lab lab;
};

TEST_F(Handover, owners_get_what_is_held_and_strangers_do_not) {
  reserve("Restricted", 4);
  EXPECT_EQ(cpusReserved(), R"({"cpuset":"0-3"})");
  pod("stranger", "y", 4);
  EXPECT_EQ(cpusOf("stranger"), R"({"cpuset":"4-7"})");
  pod("a", "x", 2);
  EXPECT_EQ(cpusOf("a"), R"({"cpuset":"0-1"})") << lab.said("a");
  pod("b", "x", 2);
  EXPECT_EQ(cpusOf("b"), R"({"cpuset":"2-3"})") << lab.said("b");
  pod("c", "x", 2);
  EXPECT_EQ(lab.nodeOf("c"), "");
  lab.removePod("a");
  pod("stranger-2", "y", 2);
  EXPECT_EQ(lab.nodeOf("stranger-2"), "");
  lab.wait(std::chrono::seconds(20));
  EXPECT_EQ(cpusOf("c"), R"({"cpuset":"0-1"})") << lab.said("c");
}

TEST_F(Handover, an_aligned_owner_gets_these_and_more) {
  reserve("Aligned", 2);
  pod("stranger", "y", 2);
  pod("a", "x", 4);
  EXPECT_EQ(cpusOf("a"), R"({"cpuset":"0-1,4-5"})") << lab.said("a");
  pod("last", "y", 2);
  EXPECT_EQ(cpusOf("last"), R"({"cpuset":"6-7"})") << lab.said("last");
}

TEST(HandoverDifference, subtracts_cpus_and_amounts) {
  NumaAllocation whole{{{0, {{"cpu", 4000}, {"memory", 8}}}}, CpuSet{0, 1, 2, 3}};
  const NumaAllocation part{{{0, {{"cpu", 1000}}}, {1, {{"cpu", 9000}}}}, CpuSet{1, 7}};
  const NumaAllocation left = differenceOf(whole, part);
  EXPECT_EQ(left.cpus.text(), "0,2-3");
  EXPECT_EQ(left.perNode.at(0).at("cpu"), 3000);
  EXPECT_EQ(left.perNode.at(0).at("memory"), 8);
}

}  // namespace
}  // namespace mangrove::placement
