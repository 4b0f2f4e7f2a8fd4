#include "yarn/capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yarn/resource_manager.h"

namespace mangrove::yarn {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

Share share(int64_t milli, int64_t gib) {
  return {MilliCpu{milli}, kGiB * gib};
}
const MonoTime kNow{seconds(1000)};

TEST(YarnCapacity, WhatKubernetesDoesNotUse) {  // T-CA-8
  EXPECT_EQ(capacityOf({share(37'200, 96), share(9'000, 16), {}}), (Capacity{28, 81'920}));
  EXPECT_EQ(capacityOf({share(20'000, 96), share(9'000, 16), {}}).vcores, 11);
  EXPECT_EQ(capacityOf({share(4'000, 4), share(9'000, 16), {}}), (Capacity{0, 0}));
  EXPECT_EQ(capacityOf({share(2'000, 4), {}, {}}, {.vcoresPerCpu = 10}).vcores, 20);
  EXPECT_EQ(capacityOf({{MilliCpu{1'999}, kMiB * 1'535}, {}, {}}), (Capacity{1, 1'024}));
}

TEST(YarnCapacity, WhoWaitsGetsBackItsShare) {
  // Half of 20 is Kubernetes': of the 15 cores that wait 6 come on top of the 4 it has.
  EXPECT_EQ(capacityOf({share(20'000, 20), share(4'000, 4), share(15'000, 15)}),
            (Capacity{10, 10 * 1024}));
  EXPECT_EQ(capacityOf({share(20'000, 20), share(4'000, 4), share(1'000, 1)}).vcores, 15);
  EXPECT_EQ(capacityOf({share(20'000, 20), share(14'000, 4), share(9'000, 0)}).vcores, 6)
      << "what it has borrowed it keeps";
  EXPECT_EQ(capacityOf({share(20'000, 20), {}, share(20'000, 20)},
                       {.yarnWeight = 100, .kubernetesWeight = 0})
                .vcores,
            20);
}

TEST(YarnCapacity, LessAtOnceMoreOnceAMinute) {
  const NodeReport told{{28, 81'920}, kNow - seconds(10), {}};
  const auto less = nextStep(told, {11, 81'920}, {15, 0}, kNow);
  ASSERT_TRUE(less);
  EXPECT_EQ(less->to, (Capacity{11, 81'920}));
  EXPECT_EQ(less->overcommit, Duration(seconds(30)));
  EXPECT_EQ(less->after.drainBy, kNow + seconds(30));
  EXPECT_FALSE(nextStep(told, {40, 81'920}, {}, kNow)) << "not within a minute";
  const auto more = nextStep(told, {40, 81'920}, {15, 0}, kNow + seconds(50));
  ASSERT_TRUE(more);
  EXPECT_FALSE(more->overcommit);
  EXPECT_EQ(more->after.raisedAt, kNow + seconds(50));
  // One falls, the other rises too early: only what falls is told.
  const auto mixed = nextStep(told, {11, 99'328}, {}, kNow);
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->to, (Capacity{11, 81'920}));
  EXPECT_EQ(mixed->after.raisedAt, told.raisedAt);
}

TEST(YarnCapacity, TheRemainderIsSent) {
  NodeReport report{{28, 81'920}, {}, {}};
  report = nextStep(report, {20, 81'920}, {25, 0}, kNow)->after;
  const auto again = nextStep(report, {11, 81'920}, {25, 0}, kNow + seconds(20));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->overcommit, Duration(seconds(10))) << "the time does not begin anew";
  const auto late = nextStep(report, {11, 81'920}, {25, 0}, kNow + seconds(45));
  EXPECT_EQ(late->overcommit, Duration::zero());
  const auto over = nextStep(report, {11, 81'920}, {9, 0}, kNow + seconds(20));
  EXPECT_FALSE(over->overcommit);
  EXPECT_FALSE(over->after.drainBy);
}

TEST(YarnCapacity, WhatTheManagerSaysItselfCounts) {
  const NodeReport told{{28, 81'920}, kNow - seconds(10), kNow + seconds(5)};
  EXPECT_EQ(observed(told, {28, 81'920}, {30, 0}), told);
  EXPECT_FALSE(observed(told, {28, 81'920}, {28, 0}).drainBy) << "those beyond have ended";
  const NodeReport forgotten = observed(told, {1, 1'024}, {0, 0});
  EXPECT_TRUE(nextStep(forgotten, {28, 81'920}, {}, kNow)) << "no minute to wait";
  const NodeReport grown = observed(told, {64, 81'920}, {0, 0});
  EXPECT_EQ(grown.raisedAt, told.raisedAt);
  EXPECT_EQ(nextStep(grown, {28, 81'920}, {}, kNow)->to.vcores, 28);
}

TEST(YarnCapacity, SmallChangesAreNotTold) {
  const NodeReport told{{28, 81'920}, {}, {}};
  EXPECT_FALSE(nextStep(told, {28, 81'920}, {}, kNow));
  EXPECT_FALSE(nextStep(told, {26, 81'920}, {}, kNow)) << "less than a tenth";
  EXPECT_FALSE(nextStep(told, {28, 81'920 - 4'096}, {}, kNow));
  EXPECT_TRUE(nextStep(told, {25, 81'920}, {}, kNow));
  EXPECT_TRUE(nextStep(told, {28, 81'920 - 8'192}, {}, kNow));
  EXPECT_TRUE(nextStep({}, {1, 512}, {}, kNow));
  EXPECT_TRUE(nextStep({{1, 512}, {}, {}}, {0, 0}, {}, kNow));
}

TEST(YarnCapacity, TheYoungestGoMastersLast) {  // T-CA-8
  std::vector<Container> all;
  for (int i = 0; i < 15; i++)
    all.push_back({"c" + std::to_string(i), {1, 512}, WallTime(seconds(i)), i >= 13});
  EXPECT_THAT(beyond(all, {11, 81'920}), ElementsAre(12, 11, 10, 9));
  EXPECT_THAT(beyond(all, {15, 81'920}), ElementsAre());
  EXPECT_EQ(beyond(all, {0, 0}).back(), 13u) << "masters too, where nothing is left";
}

TEST(YarnWire, UpdatesAreWrittenAsTheServerReadsThem) {
  EXPECT_EQ(resourcePath("n1:45454", "root"),
            "/ws/v1/cluster/nodes/n1:45454/resource?user.name=root");
  EXPECT_EQ(
      resourceBody({2, 2048}, {}),
      R"({"resource":{"memory":2048,"vCores":2,"resourceInformations":{"resourceInformation":[)"
      R"({"name":"memory-mb","units":"Mi","value":2048,"resourceType":"COUNTABLE"},)"
      R"({"name":"vcores","units":"","value":2,"resourceType":"COUNTABLE"}]}},"overCommitTimeout":-1})");
  EXPECT_NE(resourceBody({2, 2048}, seconds(10)).find(R"("overCommitTimeout":10000)"),
            std::string::npos);
}

TEST(YarnWire, NodesAndStateAreRead) {
  const auto nodes = parseNodes(
      R"({"nodes":{"node":[{"id":"n1:45454","state":"RUNNING","usedMemoryMB":1024,)"
      R"("availMemoryMB":3072,"usedVirtualCores":1,"availableVirtualCores":3,"rack":"/r"}]}})");
  ASSERT_TRUE(nodes) << nodes.error().text();
  EXPECT_THAT(*nodes, ElementsAre(RmNode{"n1:45454", "RUNNING", {4, 4096}, {1, 1024}}));
  EXPECT_TRUE(parseNodes(R"({"nodes":null})")->empty());
  EXPECT_NE(parseNodes(R"({"nodes":{"node":[{"id":7}]}})").error().text().find("node[0].id"),
            std::string::npos);
  EXPECT_FALSE(parseNodes("<html>"));
  EXPECT_EQ(*parseState(R"({"clusterInfo":{"haState":"STANDBY"}})"), "STANDBY");
  EXPECT_FALSE(parseState("{}"));
  EXPECT_EQ(schedulesVcores("<td>\n [memory-mb (unit=Mi), vcores]\n</td>"), true);
  EXPECT_EQ(schedulesVcores("<td>[memory-mb (unit=Mi)]</td> vcores"), false);
  EXPECT_EQ(schedulesVcores("<html>"), std::nullopt);
}

}  // namespace
}  // namespace mangrove::yarn
