// The whole manager against a small API server: what it writes, and what it leaves alone.
#include "manager/manager.h"

#include <atomic>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/names.h"
#include "api/node.h"
#include "api/node_pause.h"
#include "base/time_text.h"
#include "client/http_api_client.h"
#include "client/testing/fake_api.h"
#include "client/worker.h"
#include "manager/control_loop.h"

namespace mangrove::manager {
namespace {

using namespace std::chrono_literals;
namespace kind = client::kind;

class ManagerTest : public ::testing::Test {
 protected:
  ManagerTest()
      : clock(*parseTime("2026-03-01T12:00:00Z")), api(loop, {.seed = 7, .retryAfter = 0}) {
    client = *client::HttpApiClient::make(loop, realClock(), api.config(), {.perSecond = 0});
    configure(
        R"({"enable":true,"cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65})");
  }
  ~ManagerTest() override { manager.reset(); }

  void configure(const std::string& colocation) {
    api.put(kind::kConfigMap, "koordinator-system", "slo-controller-config",
            fmt::format(R"({{"data":{{"colocation-config":{}}}}})",
                        json::write(json::Value(colocation))));
  }
  void node(const std::string& name) {
    api.put(
        kind::kNode, "", name,
        R"({"metadata":{"annotations":{"a":"b"}},"status":{"capacity":{"cpu":"100","memory":"120G"},"allocatable":{"cpu":"100","memory":"120G"}}})");
  }
  // As its agent says it; the rest of the node stays.
  void pause(const std::string& name, bool paused) {
    auto text = json::parse(api.truth(kind::kNode).at(name));
    (*text).as_object()["status"].as_object()["conditions"] = json::Array{
        json::Object{{"type", api::kBestEffortPaused}, {"status", paused ? "True" : "False"}}};
    api.put(kind::kNode, "", name, json::write(*text));
  }
  void report(const std::string& name, int usedCores, WallTime at) {
    api.put(
        kind::kNodeMetric, "", name,
        fmt::format(
            R"({{"spec":{},"status":{{"updateTime":"{}","nodeMetric":{{"nodeUsage":{{"resources":{{"cpu":"50","memory":"60G"}}}},"systemUsage":{{"resources":{{"cpu":"7","memory":"12G"}}}}}},"podsMetric":[{{"name":"p","namespace":"d","priority":"koord-prod","podUsage":{{"resources":{{"cpu":"{}","memory":"33G"}}}}}}]}}}})",
            kSpec, formatTime(at), usedCores));
  }
  void start(ManagerOptions options = {}) {
    manager = std::make_unique<Manager>(ManagerParts{.client = client.get(),
                                                     .owner = &owner,
                                                     .home = &worker.mailbox(),
                                                     .clock = &clock,
                                                     .metrics = &metrics},
                                        std::move(options));
    manager->start();
  }
  // Runs the owner while virtual time flows, until the condition holds; false after a while.
  template <class Condition>
  bool until(Condition condition) {
    const MonoTime giveUp = realClock().mono() + 10s;
    while (realClock().mono() < giveUp) {
      if (condition()) return true;
      if (!owner.runOne(2ms)) clock.advance(5ms);
    }
    return false;
  }
  std::string batchCpu(const std::string& name) const {
    const auto truth = api.truth(kind::kNode);
    const auto at = truth.find(name);
    if (at == truth.end()) return "no node";
    const auto node = api::decodeText<api::Node>(at->second);
    const Quantity* amount = node->status.allocatable.find(api::resource::kBatchCpu);
    return amount ? std::to_string(amount->value()) : "none";
  }
  bool settle() {
    return until([&] { return manager->idle(); }) && until([&, calm = 0]() mutable {
             return manager->idle() ? ++calm > 40 : (calm = 0) > 0;
           });
  }

  static constexpr const char* kSpec =
      R"({"metricCollectPolicy":{"aggregateDurationSeconds":300,"reportIntervalSeconds":60,"nodeAggregatePolicy":{"durations":["5m0s","10m0s","30m0s"]},"nodeMemoryCollectPolicy":"usageWithoutPageCache"}})";

  VirtualClock clock;
  net::Loop loop{1};
  client::testing::FakeApi api;
  Registry metrics;
  std::unique_ptr<client::HttpApiClient> client;
  client::Worker worker;
  Mailbox owner;
  std::unique_ptr<Manager> manager;
};

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
  node("n1");
  report("n1", 33, clock.wall());
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return batchCpu("n1") == "25000"; }));
  ASSERT_TRUE(settle());
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
  node("n1");
  report("n1", 33, clock.wall());
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return batchCpu("n1") == "25000"; }));
  ASSERT_TRUE(settle());
  pause("n1", true);
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "0"; })) << batchCpu("n1");
  ASSERT_TRUE(settle());
  pause("n1", false);
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "25000"; })) << batchCpu("n1");
}

TEST_F(ManagerTest, AStaleReportTakesEverythingAway) {
  node("n1");
  report("n1", 33, clock.wall());
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return batchCpu("n1") == "25000"; }));
  ASSERT_TRUE(settle());
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
  node("n1");
  report("n1", 33, clock.wall());
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return batchCpu("n1") == "25000"; }));
  ASSERT_TRUE(settle());
  bool nothingUnderWay = true;
  for (int i = 0; nothingUnderWay && i < 16; i++) {
    report("n1", i % 2 ? 33 : 13, clock.wall());
    ASSERT_TRUE(until([&] { return !manager->idle(); }));
    owner.runOne(1ms);  // sends
    nothingUnderWay = false;
    manager->yield([&] { nothingUnderWay = true; });
    manager->lead();
  }
  ASSERT_FALSE(nothingUnderWay);
  ASSERT_TRUE(until([&] { return nothingUnderWay; }));  // the first reign is over now
  EXPECT_TRUE(manager->leading());
  report("n1", 23, clock.wall());
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "35000"; }));
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

// Spec 08, T-CA-2, from the policy to the eviction.
class TimePolicyTest : public ManagerTest {
 protected:
  TimePolicyTest() {
    clock.stepWall(-5h);  // 07:00
    api.put(
        kind::kNode, "", "n1",
        R"({"metadata":{"labels":{"pool":"online"}},"status":{"capacity":{"cpu":"40","memory":"100G"},"allocatable":{"cpu":"40","memory":"100G"}}})");
    refresh();
    batchPod("small", 10000, R"("colocation.mangrove.io/drain-notice":"50m")");
    batchPod("large", 12000, "");
    api.put(
        {"colocation.mangrove.io", "v1alpha1", "ColocationTimePolicy", "colocationtimepolicies",
         false, false},
        "", "p",
        R"({"spec":{"nodeSelector":{"matchLabels":{"pool":"online"}},"cpu":{"safePercent":100},"memory":{"safePercent":100},"windows":[{"name":"night","start":"01:00","end":"08:00","mode":"Full","gracePeriod":"30m"}],"default":{"mode":"Ratio","ratio":0.3}}})");
  }
  void refresh() {
    api.put(
        kind::kNodeMetric, "", "n1",
        fmt::format(
            R"({{"spec":{},"status":{{"updateTime":"{}","nodeMetric":{{"nodeUsage":{{"resources":{{"cpu":"0","memory":"0"}}}}}}}}}})",
            kSpec, formatTime(clock.wall())));
  }
  void batchPod(const char* name, int cpu, const char* annotations) {
    api.put(
        kind::kPod, "d", name,
        fmt::format(
            R"({{"metadata":{{"labels":{{"koordinator.sh/qosClass":"BE"}},"annotations":{{{}}}}},"spec":{{"nodeName":"n1","containers":[{{"name":"c","resources":{{"requests":{{"kubernetes.io/batch-cpu":"{}"}}}}}}]}},"status":{{"phase":"Running"}}}})",
            annotations, cpu));
  }
  void pass(Duration time) {
    clock.advance(time);
    refresh();
  }
  bool tainted() const {
    return api.truth(kind::kNode).at("n1").find("colocation-draining") != std::string::npos;
  }
  bool told(const char* pod) const {
    return api.truth(kind::kPod)
               .at(pod)
               .find(R"("colocation.mangrove.io/drain-at":"2026-03-01T08:00:00Z")") !=
           std::string::npos;
  }
};

TEST_F(TimePolicyTest, DrainsAndThenEvicts) {
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return batchCpu("n1") == "40000"; }));
  ASSERT_TRUE(settle());
  EXPECT_FALSE(tainted());
  EXPECT_FALSE(told("d/small"));
  pass(11min);  // small has asked for 50 minutes of notice
  EXPECT_TRUE(until([&] { return told("d/small"); }));
  EXPECT_FALSE(told("d/large"));
  pass(20min);
  ASSERT_TRUE(until([&] { return batchCpu("n1") == "22000" && tainted(); }));
  EXPECT_TRUE(until([&] { return told("d/large"); }));
  EXPECT_EQ(api.truth(kind::kPod).size(), 2u);
  pass(30min);
  ASSERT_TRUE(until([&] { return batchCpu("n1") == "12000" && !tainted(); }))
      << api.truth(kind::kNode).at("n1");
  // The largest goes; 10 000 m fit into 12 000.
  EXPECT_TRUE(until([&] { return api.truth(kind::kPod).size() == 1; }));
  EXPECT_TRUE(api.truth(kind::kPod).contains("d/small"));
}

TEST_F(TimePolicyTest, WhoLeadsSinceJustAfterTheEndClearsTheNodeToo) {
  pass(62min);  // 08:02, and nobody saw 08:00
  start();
  manager->lead();
  EXPECT_TRUE(until([&] { return api.truth(kind::kPod).size() == 1; }));
}

TEST_F(TimePolicyTest, AProtectedPodIsTriedAgain) {
  auto refusals = std::make_shared<std::atomic<int>>(3);
  api.setHook([refusals](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (request.target.find("/eviction") == std::string::npos || --*refusals < 0)
      return std::nullopt;
    return net::HttpResponse::json(
        429, R"({"kind":"Status","status":"Failure","message":"a budget","code":429})");
  });
  pass(62min);
  start();
  manager->lead();
  EXPECT_TRUE(until([&] { return api.truth(kind::kPod).size() == 1; }));
}

TEST(Switches, ReadLikeTheReferences) {
  EXPECT_TRUE(isSwitchedOn({"*"}, "nodeslo"));
  EXPECT_FALSE(isSwitchedOn({"*", "-nodeslo"}, "nodeslo"));
  EXPECT_TRUE(isSwitchedOn({"*", "-nodeslo"}, "nodemetric"));
  EXPECT_TRUE(isSwitchedOn({"nodeslo", "-nodeslo"}, "nodeslo"));
  EXPECT_FALSE(isSwitchedOn({"nodeslo"}, "nodemetric"));
  const auto wrong = checkSwitches("controllers", {"*", "-nodeslos"}, controllerNames());
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), ::testing::HasSubstr("did you mean 'nodeslo'"));
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
