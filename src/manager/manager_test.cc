// The whole manager against a small API server: what it writes, and what it leaves alone.
#include "manager/manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/control_loop.h"
#include "manager/controllers/nodemetric/controller.h"
#include "manager/controllers/noderesource/node_gauges.h"
#include "manager/manager_test_support.h"
#include "manager/switches.h"

namespace mangrove::manager {
namespace {

using namespace testing;
using ::testing::HasSubstr;

TEST_F(ManagerTest, WritesEachNodeOnceAndThenRests) {
  constexpr int kNodes = 30;
  for (int i = 0; i < kNodes; i++) {
    node(fmt::format("n{}", i));
    report(fmt::format("n{}", i), 33, clock.wall());
  }
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return batchCpu("n29") == "25000" && manager->idle(); }));
  ASSERT_TRUE(settle());
  for (int i = 0; i < kNodes; i++) EXPECT_EQ(batchCpu(fmt::format("n{}", i)), "25000");
  EXPECT_EQ(api.truth(kind::kNodeSlo).size(), static_cast<size_t>(kNodes));
  // One write per node and one NodeSLO each; the NodeMetrics were as they should be.
  EXPECT_EQ(manager->stats().writes, 2u * kNodes);
  // A new report with the same figures changes nothing.
  clock.advance(60s);
  for (int i = 0; i < kNodes; i++) report(fmt::format("n{}", i), 33, clock.wall());
  ASSERT_TRUE(settle());
  EXPECT_EQ(manager->stats().writes, 2u * kNodes);
}

TEST_F(ManagerTest, SmallChangesWaitForTheirTime) {
  ASSERT_TRUE(leadsOneNode());
  report("n1", 34, clock.wall());  // 4 % less
  ASSERT_TRUE(settle());
  EXPECT_EQ(batchCpu("n1"), "25000");
  clock.advance(301s);
  report("n1", 34, clock.wall());
  ASSERT_TRUE(until([&] { return batchCpu("n1") == "24000"; }));
  report("n1", 44, clock.wall());  // more than a tenth
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "14000"; }));
}

// Nothing is placed here, so nothing is sold until the node has recovered.
TEST_F(ManagerTest, ANodeThatEvictedSellsNoMoreThanIsPlaced) {
  ASSERT_TRUE(leadsOneNode());
  pause("n1", true);
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "0"; })) << batchCpu("n1");
  ASSERT_TRUE(settle());
  pause("n1", false);
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "25000"; })) << batchCpu("n1");
}

TEST_F(ManagerTest, AStaleReportTakesEverythingAway) {
  ASSERT_TRUE(leadsOneNode());
  clock.advance(14min);
  ASSERT_TRUE(settle());
  EXPECT_EQ(batchCpu("n1"), "25000");
  clock.advance(2min);  // nobody reports, nothing happens, and still it is noticed
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "none"; }));
}

TEST_F(ManagerTest, AnUnreadableConfigurationAtStartStopsEverything) {
  configure("invalid");
  node("n1");
  report("n1", 33, clock.wall());
  start();
  manager->lead();
  ASSERT_TRUE(settle());
  EXPECT_EQ(batchCpu("n1"), "none");
  EXPECT_FALSE(manager->config()->colocation.available);
  configure(R"({"enable":true,"cpuReclaimThresholdPercent":65})");
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "25000"; }));
  // A later mistake keeps the last good value.
  configure(R"({"enable":true,"cpuReclaimThresholdPercent":-1})");
  ASSERT_TRUE(until([&] { return manager->config()->colocation.wrong; }));
  ASSERT_TRUE(settle());
  EXPECT_EQ(batchCpu("n1"), "25000");
}

TEST_F(ManagerTest, SwitchingOffTakesTheResourcesAway) {
  node("n1");
  report("n1", 33, clock.wall());
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return batchCpu("n1") == "25000"; }));
  configure(R"({"enable":false})");
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "none"; }));
}

TEST_F(ManagerTest, OnlyTheLeaderWrites) {
  node("n1");
  report("n1", 33, clock.wall());
  start();
  ASSERT_TRUE(until([&] { return manager->waitingFor().empty(); }));
  for (int i = 0; i < 50; i++) owner.runOne(1ms);
  EXPECT_EQ(manager->stats().writes, 0u);
  manager->lead();
  ASSERT_TRUE(until([&] { return batchCpu("n1") == "25000"; }));
  ASSERT_TRUE(settle());
  bool done = false;
  manager->yield([&] { done = true; });
  ASSERT_TRUE(until([&] { return done; }));
  const auto writes = manager->stats().writes;
  report("n1", 50, clock.wall());
  for (int i = 0; i < 50; i++) owner.runOne(1ms);
  EXPECT_EQ(manager->stats().writes, writes);
}

// A lease that is lost and won again while a write waits for its answer: the end of the first reign
// must not stop the second.
TEST_F(ManagerTest, LeadsOnWhenItLeadsAgainBeforeAWriteIsAnswered) {
  ASSERT_TRUE(leadsOneNode());
  bool nothingUnderWay = true;
  ASSERT_TRUE(leavesAWriteUnderWay(nothingUnderWay));
  ASSERT_TRUE(until([&] { return nothingUnderWay; }));  // the first reign is over now
  EXPECT_TRUE(manager->leading());
  report("n1", 23, clock.wall());
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "35000"; }));
}

// Who is told that nothing is under way ends the manager, and then the threads it stood on: nothing
// of it may be left by then.
TEST_F(ManagerTest, MayBeEndedByWhoWaitsForItsAnswers) {
  ASSERT_TRUE(leadsOneNode());
  const std::weak_ptr<const NodeGauges> part = manager->nodeGauges();
  bool nothingUnderWay = true, gone = false;
  ASSERT_TRUE(leavesAWriteUnderWay(nothingUnderWay));
  manager->yield([&] {
    manager.reset();
    gone = part.expired();
  });
  ASSERT_TRUE(until([&] { return manager == nullptr; }));
  EXPECT_TRUE(gone);
}

TEST_F(ManagerTest, ObjectsOfNodesThatAreGoneAreRemoved) {
  node("n1");
  report("n1", 33, clock.wall());
  report("gone", 33, clock.wall());  // its node left while nobody led
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return api.truth(kind::kNodeMetric).size() == 1; }));
  ASSERT_TRUE(until([&] { return api.truth(kind::kNodeSlo).size() == 1; }));
  api.remove(kind::kNode, "", "n1");
  EXPECT_TRUE(until(
      [&] { return api.truth(kind::kNodeMetric).empty() && api.truth(kind::kNodeSlo).empty(); }));
}

// Readers are told how long reports hold, on objects that were there and on new ones; and no more when
// the manager no longer says so.
TEST_F(ManagerTest, SaysHowLongReportsHold) {
  node("n1");
  node("n2");
  report("n1", 33, clock.wall());
  ManagerOptions options;
  options.own.of<NodeMetricOptions>().validity = std::chrono::minutes(20);
  const auto says = [&](const std::string& name, const std::string& want) {
    const auto all = api.truth(kind::kNodeMetric);
    const auto at = all.find(name);
    return at != all.end() &&
           (at->second.find("report-validity") != std::string::npos) == !want.empty() &&
           at->second.find(want) != std::string::npos;
  };
  start(options);
  manager->lead();
  EXPECT_TRUE(until([&] { return says("n1", "\"780s\"") && says("n2", "\"780s\""); }))
      << "not as long as the manager itself would wait: 15 minutes";
  EXPECT_TRUE(until([&] { return says("n1", "\"0.1/300s\"") && says("n2", "\"0.1/300s\""); }))
      << "when amounts for sale are written";
  manager.reset();
  start();
  manager->lead();
  EXPECT_TRUE(until([&] { return says("n1", "") && says("n2", ""); }));
  EXPECT_TRUE(until([&] {
    return api.truth(kind::kNodeMetric).at("n1").find("sale-rule") == std::string::npos;
  }));
}

TEST_F(ManagerTest, GoesOnWhenTheServerRefusesForAWhile) {
  for (int i = 0; i < 10; i++) {
    node(fmt::format("n{}", i));
    report(fmt::format("n{}", i), 33, clock.wall());
  }
  client::testing::Faults refusing;
  refusing.error500 = 0.1;
  refusing.error429 = 0.2;
  api.setFaults(refusing);
  start();
  manager->lead();
  const auto all = [&] {
    for (int i = 0; i < 10; i++)
      if (batchCpu(fmt::format("n{}", i)) != "25000") return false;
    return true;
  };
  const auto some = [&] { return manager->stats().writes >= 5; };
  EXPECT_TRUE(until(some));
  api.setFaults({});
  EXPECT_TRUE(until(all));
}

// Who does not lead reads the configuration all the same; the leader alone writes about it.
TEST_F(ManagerTest, OnlyTheLeaderTellsOfTheConfiguration) {
  configure(R"({"enable":true,"cpuReclaimThresholdPercent":-1})");
  node("n1");
  start();
  ASSERT_TRUE(until([&] { return manager->waitingFor().empty(); }));
  for (int i = 0; i < 50; i++) owner.runOne(1ms);
  EXPECT_EQ(events.stats().recorded, 0u);
  manager->lead();
  EXPECT_TRUE(until([&] { return told("ColocationCfgUnmarshalFailed").size() == 1; }));
}

// Defaults hold after a deletion as they do at a start without a ConfigMap, and it is told.
TEST_F(ManagerTest, ADeletedConfigurationMeansDefaults) {
  node("n1");
  report("n1", 33, clock.wall());
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return batchCpu("n1") == "25000"; }));
  EXPECT_THAT(metrics.exposition(), HasSubstr("mangrove_manager_config_present 1"));
  api.remove(kind::kConfigMap, "koordinator-system", "slo-controller-config");
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "none"; }));
  EXPECT_TRUE(until([&] { return told("ConfigMapDeleted").size() == 1; }));
  EXPECT_THAT(metrics.exposition(), HasSubstr("mangrove_manager_config_present 0"));
  EXPECT_TRUE(manager->config()->missing);
  configure(R"({"enable":true,"cpuReclaimThresholdPercent":65})");
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "25000"; }));
}

// What NodeSLO is made from is watched, annotations included.
TEST_F(ManagerTest, AnAnnotationOfTheNodeRefreshesItsSlo) {
  node("n1");
  report("n1", 33, clock.wall());
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return api.truth(kind::kNodeSlo).size() == 1; }));
  ASSERT_TRUE(settle());
  auto patched = std::make_shared<std::atomic<int>>(0);
  api.setHook([patched](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (request.method != "PATCH" || request.target.find("/nodeslos/n1") == std::string::npos)
      return std::nullopt;
    if (request.body.find("1G") != std::string::npos) ++*patched;
    return net::HttpResponse::json(200, "{}");
  });
  auto text = json::parse(api.truth(kind::kNode).at("n1"));
  text->at("metadata").at("annotations").as_object()["node.koordinator.sh/network-bandwidth"] =
      "1G";
  api.put(kind::kNode, "", "n1", json::write(*text));
  EXPECT_TRUE(until([&] { return *patched > 0; }));
}

// A pod placed under one name lowers all others in one write, however small it is.
TEST_F(ManagerTest, ViewsFollowEveryPlacement) {
  configure(
      R"({"enable":true,"cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65,"aliasViews":["crane","katalyst"]})");
  node("n1");
  report("n1", 33, clock.wall());
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return amountOf("n1", "gocrane.io/cpu") == "25"; }));
  ASSERT_TRUE(settle());
  const auto writes = manager->stats().writes;
  batchPod("small", 100, "");
  const auto katalyst = [&] {
    return amountOf("n1", "resource.katalyst.kubewharf.io/reclaimed_millicpu");
  };
  EXPECT_TRUE(until([&] { return katalyst() == "24900"; })) << katalyst();
  EXPECT_EQ(amountOf("n1", "gocrane.io/cpu"), "24");
  EXPECT_EQ(batchCpu("n1"), "25000");
  ASSERT_TRUE(settle());
  EXPECT_EQ(manager->stats().writes, writes + 1);
}

// Held rises survive a change of leaders: who comes next goes on from what stands on the node.
TEST_F(ManagerTest, SteadyAmountsDoNotJumpAtAHandOver) {
  configure(
      R"({"enable":true,"cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65,"steadyReclaim":{"enable":true,"riseHoldSeconds":60}})");
  ASSERT_TRUE(leadsOneNode());
  report("n1", 13, clock.wall());
  ASSERT_TRUE(settle());
  EXPECT_EQ(batchCpu("n1"), "25000");
  manager.reset();
  start();
  manager->lead();
  ASSERT_TRUE(settle());
  EXPECT_EQ(batchCpu("n1"), "25000");
  clock.advance(90s);
  report("n1", 13, clock.wall());
  ASSERT_TRUE(until([&] { return batchCpu("n1") != "25000"; }));
  EXPECT_GT(std::stoi(batchCpu("n1")), 25000);
  EXPECT_LT(std::stoi(batchCpu("n1")), 45000);  // ramped
  report("n1", 43, clock.wall());
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "15000"; }));  // a fall comes at once
  EXPECT_THAT(metrics.exposition(), HasSubstr("mangrove_manager_reclaim_churn_total"));
}

// The reference's names of what controllers export; its dashboards ask for them.
TEST_F(ManagerTest, MetricsHaveTheReferencesNames) {
  ASSERT_TRUE(leadsOneNode());
  const std::string page = metrics.exposition() + manager->nodeGauges()->exposition();
  for (
      const char* line : {
          R"(slo_controller_node_resource_reconcile_count{status="succeeded",reason="reconcileSucceeded"})",
          R"(slo_controller_nodemetric_reconcile_count{status="succeeded",)",
          R"(slo_controller_nodemetric_spec_parse_count{status="succeeded",)",
          R"(slo_controller_nodeslo_reconcile_count{status="succeeded",)",
          R"(slo_controller_nodeslo_spec_parse_count{status="succeeded",)",
          R"(slo_controller_node_resource_run_plugin_status{plugin="BatchResource",status="succeeded",reason=)",
          R"(slo_controller_node_extended_resource_allocatable_internal{node="n1",resource="kubernetes.io/batch-cpu",unit=)",
      })
    EXPECT_THAT(page, HasSubstr(line));
}

TEST(Switches, ReadLikeTheReferences) {
  EXPECT_TRUE(isSwitchedOn({"*"}, "nodeslo"));
  EXPECT_FALSE(isSwitchedOn({"*", "-nodeslo"}, "nodeslo"));
  EXPECT_TRUE(isSwitchedOn({"*", "-nodeslo"}, "nodemetric"));
  EXPECT_TRUE(isSwitchedOn({"nodeslo", "-nodeslo"}, "nodeslo"));
  EXPECT_FALSE(isSwitchedOn({"nodeslo"}, "nodemetric"));
  const auto wrong = checkSwitches("controllers", {"*", "-nodeslos"}, controllerNames());
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), HasSubstr("did you mean 'nodeslo'"));
}

TEST(WriteWindow, GrowsWithGoodAnswersAndHalvesOnRefusal) {
  WriteWindow window({.first = 8, .least = 2, .most = 10});
  for (int i = 0; i < 100; i++) {
    window.begin();
    window.end(false);
  }
  EXPECT_EQ(window.size(), 10u);
  window.begin();
  window.end(true);
  EXPECT_EQ(window.size(), 5u);
}

}  // namespace
}  // namespace mangrove::manager
