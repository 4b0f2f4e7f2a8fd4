// Minimal plans through the whole descheduler: the fewest moves, proven, within a budget, and one
// label by which all that have not left are stopped.
#include <set>

#include "descheduler/plugins/low_node_load_args.h"
#include "descheduler/testing/proven_cluster.h"

namespace mangrove::descheduler {
namespace {

namespace kind = client::kind;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class MinimalPlans : public testing::ProvenCluster {
 protected:
  void planBy(const std::string& args) {
    startWith(fmt::format(R"({{
      "apiVersion":"descheduler/v1alpha2","kind":"DeschedulerConfiguration","deschedulingInterval":"10s",
      "profiles":[{{"name":"one","plugins":{{"balance":{{"enabled":[{{"name":"LowNodeLoad"}}]}}}},"pluginConfig":[
        {{"name":"LowNodeLoad","args":{{"lowThresholds":{{"cpu":45}},"highThresholds":{{"cpu":75}},
          "anomalyCondition":{{"consecutiveAbnormalities":1}},"minimalPlans":true{}}}}},
        {{"name":"MigrationController","args":{{"provenMoves":true,
          "maxMigratingPerNode":20,"maxMigratingPerWorkload":20,"maxUnavailablePerWorkload":20}}}}]}}]}})",
                          args));
  }
  // 7 of 8 cores are used, 6 are allowed: one large pod, or two small ones.
  void hotNode(const std::string& name) {
    machine(name, "8");
    guest({name + "-small", name, "500m"});
    guest({name + "-tiny", name, "500m"});
    guest({name + "-large", name, "1"});
    uses(name, {{name + "-small", 600}, {name + "-tiny", 500}, {name + "-large", 1500}}, 4400);
  }
};

TEST_F(MinimalPlans, OneLargePodInsteadOfTwoSmallOnes) {
  hotNode("hot");
  machine("cold", "8");
  uses("cold", {});
  planBy("");
  EXPECT_THAT(planned(1), UnorderedElementsAre("hot-large to cold"));
}

TEST_F(MinimalPlans, WhatTheSchedulerRefusesIsPlannedAnew) {
  machine("hot", "8");
  guest({"large", "hot", "1", "koord-scheduler",
         R"("nodeSelector":{"kubernetes.io/hostname":"hot"},)"});
  guest({"small", "hot", "500m"});
  guest({"tiny", "hot", "500m"});
  uses("hot", {{"large", 1500}, {"small", 600}, {"tiny", 500}}, 4400);
  machine("cold", "8");
  uses("cold", {});
  planBy("");
  EXPECT_THAT(planned(2), UnorderedElementsAre("small to cold", "tiny to cold"));
}

TEST_F(MinimalPlans, ABudgetRelievesWholeNodesAndLeavesTheRestForLater) {
  hotNode("hot-a");
  machine("hot-b", "8");
  for (int i = 0; i < 4; ++i) guest({fmt::format("b-{}", i), "hot-b", "500m"});
  uses("hot-b", {{"b-0", 500}, {"b-1", 500}, {"b-2", 500}, {"b-3", 500}}, 5000);  // two must go
  machine("cold", "8");
  uses("cold", {});
  planBy(R"(,"budget":1)");
  EXPECT_THAT(planned(1), UnorderedElementsAre("hot-a-large to cold")) << "half a node is no plan";
  EXPECT_EQ(descheduler->journal().needed(), 2U) << "of the node that is left";
}

// Many targets, each with room for little: the scheduler spreads what the plan moves.
TEST_F(MinimalPlans, AmongManyTargetsTheSchedulerChooses) {
  for (int i = 0; i < 8; ++i) hotNode(fmt::format("hot-{}", i));
  for (int i = 0; i < 70; ++i) {
    machine(fmt::format("cold-{}", i), "8");
    guest({fmt::format("filler-{}", i), fmt::format("cold-{}", i), "7"});  // one core is free
    uses(fmt::format("cold-{}", i), {{fmt::format("filler-{}", i), 1000}});
  }
  planBy("");
  const auto moves = planned(8);
  ASSERT_THAT(moves, SizeIs(8)) << ::testing::PrintToString(moves);
  std::set<std::string> targets;
  for (const std::string& move : moves) {
    EXPECT_THAT(move, HasSubstr("-large to cold-"));
    targets.insert(move.substr(move.find("cold-")));
  }
  EXPECT_THAT(targets, SizeIs(8)) << "no two onto one";
}

// kubectl delete podmigrationjobs -l descheduler.mangrove.io/plan=…
TEST_F(MinimalPlans, OneLabelStopsAllThatHaveNotLeft) {
  hotNode("hot-a");
  hotNode("hot-b");
  machine("cold", "8");
  uses("cold", {});
  planBy("");
  ASSERT_THAT(planned(2), UnorderedElementsAre("hot-a-large to cold", "hot-b-large to cold"));
  ASSERT_TRUE(until([&] { return reservations() == 2; }));
  std::set<std::string> plans;
  for (const auto& job : jobs())
    plans.emplace(job.meta.labels.get("descheduler.mangrove.io/plan").value_or("none"));
  ASSERT_THAT(plans, SizeIs(1)) << ::testing::PrintToString(plans);
  EXPECT_NE(*plans.begin(), "none");
  descheduler->yield();  // nothing new is planned while it is stopped
  descheduler->lead();
  for (const auto& job : jobs()) api.remove(kind::kPodMigrationJob, "", job.meta.name.str());
  ASSERT_TRUE(until([&] { return reservations() == 0; }));
  EXPECT_TRUE(hasPod("hot-a-large") && hasPod("hot-b-large"));
}

TEST(MinimalPlanArgs, ABudgetIsAboutMinimalPlans) {
  const auto said = [](const char* text) {
    const auto read = readLowNodeLoadArgs(*json::parse(text));
    return read ? std::string() : read.error().text();
  };
  EXPECT_THAT(said(R"({"budget":3})"), HasSubstr("want minimalPlans: true beside it"));
  EXPECT_THAT(said(R"({"minimalPlans":true,"budget":-1})"), HasSubstr("budget is -1"));
  EXPECT_EQ(said(R"({"minimalPlans":true,"budget":3})"), "");
}

}  // namespace
}  // namespace mangrove::descheduler
