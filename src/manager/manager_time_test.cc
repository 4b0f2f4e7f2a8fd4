// Time policies through a running manager.
#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/manager_test_support.h"

namespace mangrove::manager {
namespace {

using namespace testing;
using ::testing::HasSubstr;

TEST_F(TimePolicyTest, DrainsAndThenEvicts) {
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return batchCpu("n1") == "40000"; }));
  ASSERT_TRUE(settle());
  EXPECT_FALSE(tainted());
  EXPECT_FALSE(hears("d/small"));
  pass(11min);  // small has asked for 50 minutes of notice
  EXPECT_TRUE(until([&] { return hears("d/small"); }));
  EXPECT_FALSE(hears("d/large"));
  pass(20min);
  ASSERT_TRUE(until([&] { return batchCpu("n1") == "22000" && tainted(); }));
  EXPECT_TRUE(until([&] { return hears("d/large"); }));
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

// Whoever plans without the policies sells by day what only the night allows.
TEST_F(TimePolicyTest, NothingIsPlannedBeforeThePoliciesAreKnown) {
  auto closed = std::make_shared<std::atomic<bool>>(true);
  api.setHook([closed](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (!*closed || request.target.find("colocationtimepolicies") == std::string::npos)
      return std::nullopt;
    return net::HttpResponse::json(
        503, R"({"kind":"Status","status":"Failure","message":"later","code":503})");
  });
  pass(2h);  // 09:00: 0.3 of 40 cores
  start();
  manager->lead();
  ASSERT_TRUE(until(
      [&] { return manager->waitingFor().find("ColocationTimePolicies") != std::string::npos; }));
  for (int i = 0; i < 100; i++) {
    owner.runOne(1ms);
    clock.advance(20ms);
  }
  EXPECT_EQ(batchCpu("n1"), "none");
  EXPECT_EQ(manager->stats().writes, 0u);
  *closed = false;
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "12000"; })) << batchCpu("n1");
}

// The reference's roles do not name our kind.
TEST_F(TimePolicyTest, WhoMayNotAskForPoliciesGoesOnWithout) {
  api.setHook([](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (request.target.find("colocationtimepolicies") == std::string::npos) return std::nullopt;
    return net::HttpResponse::json(
        403, R"({"kind":"Status","status":"Failure","message":"forbidden","code":403})");
  });
  start();
  manager->lead();
  EXPECT_TRUE(until([&] { return batchCpu("n1") != "none"; }));
}

TEST_F(TimePolicyTest, OffSellsNothingWhateverIsKnown) {
  policy("p", R"("default":{"mode":"Off"})");
  api.put(
      kind::kNodeMetric, "", "n1",
      fmt::format(
          R"({{"spec":{},"status":{{"updateTime":"{}","nodeMetric":{{"systemUsage":{{"resources":{{"cpu":"1","memory":"1G"}}}}}}}}}})",
          kSpec, formatTime(clock.wall())));  // no usage of the node
  start();
  manager->lead();
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "0"; })) << batchCpu("n1");
  EXPECT_EQ(amountOf("n1", api::resource::kMidCpu), "0");
}

// Of three reports the largest usage counts, also for whoever leads since a moment ago.
TEST_F(TimePolicyTest, TheLastThreeReportsCount) {
  policy("p", R"("cpu":{"safePercent":100})");
  start();
  const auto uses = [&](int cores) {
    clock.advance(60s);
    api.put(
        kind::kNodeMetric, "", "n1",
        fmt::format(
            R"({{"spec":{},"status":{{"updateTime":"{}","nodeMetric":{{"nodeUsage":{{"resources":{{"cpu":"{}","memory":"0"}}}}}}}}}})",
            kSpec, formatTime(clock.wall()), cores));
    for (int i = 0; i < 60; i++) owner.runOne(2ms);
  };
  ASSERT_TRUE(until([&] { return manager->waitingFor().empty(); }));
  uses(30);
  uses(10);
  manager->lead();
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "10000"; })) << batchCpu("n1");
  uses(10);
  ASSERT_TRUE(settle());
  EXPECT_EQ(batchCpu("n1"), "10000");
  uses(10);
  EXPECT_TRUE(until([&] { return batchCpu("n1") == "30000"; })) << batchCpu("n1");
}

TEST_F(TimePolicyTest, TwoPoliciesForOneNodeAreToldOnce) {
  policy("q", R"("default":{"mode":"Off"})");
  api.put(
      kind::kNode, "", "n2",
      R"({"metadata":{"labels":{"pool":"online"}},"status":{"capacity":{"cpu":"40","memory":"100G"},"allocatable":{"cpu":"40","memory":"100G"}}})");
  start();
  manager->lead();
  ASSERT_TRUE(until([&] { return batchCpu("n1") == "40000"; }));  // p, the first by name
  ASSERT_TRUE(until([&] { return !told("PoliciesOverlap").empty(); }));
  ASSERT_TRUE(settle());
  ASSERT_EQ(told("PoliciesOverlap").size(), 1u);
  EXPECT_THAT(told("PoliciesOverlap")[0], HasSubstr("policy p"));
}

// One order of victims, and whoever can save is asked first.
TEST_F(TimePolicyTest, WhoLosesLeastGoesAndSavesFirst) {
  const std::string at = formatTime(clock.wall() - 3h);
  const auto put = [&](const char* name, const std::string& more) {
    api.put(
        kind::kPod, "d", name,
        R"({"metadata":{"uid":"u","labels":{"koordinator.sh/qosClass":"BE"},"annotations":{)" +
            more +
            R"(}},"spec":{"nodeName":"n1","containers":[{"name":"c","resources":{"requests":)"
            R"({"kubernetes.io/batch-cpu":"10000"}}}]},"status":{"phase":"Running","startTime":")" +
            at + R"("}})");
  };
  const std::string contract =
      R"("colocation.mangrove.io/checkpoint":"{\"mode\":\"signal\",\"maxSeconds\":60}")";
  put("small", R"("colocation.mangrove.io/checkpoint":"{\"mode\":\"none\"}")");
  put("large", contract);
  pass(62min);
  ManagerOptions options;
  ASSERT_TRUE(options.gates.set("LeastLossEvict=true,CheckpointPreemption=true"));
  start(std::move(options));
  // Both lost three hours, until the one that can save has done so.
  put("large", contract + R"(,"colocation.mangrove.io/checkpoint-last":")" +
                   formatTime(clock.wall() - 1min) + '"');
  manager->lead();
  ASSERT_TRUE(until([&] {
    return api.truth(kind::kPod).at("d/large").find("checkpoint-request") != std::string::npos;
  }));
  EXPECT_EQ(api.truth(kind::kPod).size(), 2u) << "it is waited for";
  auto saved = *json::parse(api.truth(kind::kPod).at("d/large"));
  saved.as_object()["metadata"]
      .as_object()["annotations"]
      .as_object()["colocation.mangrove.io/checkpoint-last"] = formatTime(clock.wall() + 1s);
  api.put(kind::kPod, "d", "large", json::write(saved));
  ASSERT_TRUE(until([&] { return api.truth(kind::kPod).size() == 1; }));
  EXPECT_TRUE(api.truth(kind::kPod).contains("d/small"));
  ASSERT_TRUE(until([&] { return !told("ColocationWindowClosed").empty(); }));
  EXPECT_THAT(told("ColocationWindowClosed")[0], HasSubstr("d/small would have lost 1"));
}

}  // namespace
}  // namespace mangrove::manager
