// The whole descheduler beside a small API server: a hot node, its jobs, and what the server has in
// the end.
#include "descheduler/descheduler.h"

#include <atomic>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/time_text.h"
#include "client/http/http_api_client.h"
#include "client/queue/worker.h"
#include "client/testing/fake_api.h"

namespace mangrove::descheduler {
namespace {

using namespace std::chrono_literals;
namespace kind = client::kind;

class WholeDescheduler : public ::testing::Test {
 protected:
  WholeDescheduler()
      : clock(*parseTime("2026-03-01T12:00:00Z")),
        api(loop, {.seed = 7, .retryAfter = 0}),
        client(*client::HttpApiClient::make(loop, realClock(), api.config(), {.perSecond = 0})) {
    node("cold");
    node("hot");
    report("cold", 0);
    report("hot", 3900);
    api.put(kind::kReplicaSet, "d", "rs", R"({"metadata":{"uid":"rs"},"spec":{"replicas":4}})");
    for (int i = 0; i < 4; ++i) pod(fmt::format("p{}", i), i == 0 ? "hot" : "cold");
  }

  void node(const std::string& name) {
    api.put(
        kind::kNode, "", name,
        R"({"status":{"allocatable":{"cpu":"4","memory":"8Gi"},"conditions":[{"type":"Ready","status":"True"}]}})");
  }
  void report(const std::string& name, int systemMilli) {
    api.put(
        kind::kNodeMetric, "", name,
        fmt::format(
            R"({{"status":{{"updateTime":"{}","nodeMetric":{{"systemUsage":{{"resources":{{"cpu":"{}m"}}}}}},
                             "podsMetric":[{{"namespace":"d","name":"p0","podUsage":{{"resources":{{"cpu":"50m"}}}}}}]}}}})",
            formatTime(clock.wall()), systemMilli));
  }
  void pod(const std::string& name, const std::string& on) {
    api.put(
        kind::kPod, "d", name,
        fmt::format(
            R"({{"metadata":{{"uid":"uid-{}","creationTimestamp":"{}","ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"rs","controller":true}}]}},
                             "spec":{{"nodeName":"{}","schedulerName":"koord-scheduler","containers":[{{"name":"c"}}]}},
                             "status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"True"}}]}}}})",
            name, formatTime(clock.wall()), on));
  }
  void job(const std::string& name, const std::string& mode, const std::string& more = "") {
    api.put(kind::kPodMigrationJob, "", name,
            fmt::format(R"({{"metadata":{{"uid":"uid-{}","creationTimestamp":"{}"}},
                             "spec":{{"podRef":{{"namespace":"d","name":"p0"}},"mode":"{}","ttl":"5m0s"{}}}}})",
                        name, formatTime(clock.wall()), mode, more));
  }
  // The profile evicts by the DefaultEvictor instead, with these arguments.
  void startDirect(const std::string& args) {
    startWith(fmt::format(R"({{
      "apiVersion":"descheduler/v1alpha2","kind":"DeschedulerConfiguration","deschedulingInterval":"10s",
      "profiles":[{{"name":"one","plugins":{{"balance":{{"enabled":[{{"name":"LowNodeLoad"}}]}},
        "evict":{{"disabled":[{{"name":"*"}}],"enabled":[{{"name":"DefaultEvictor"}}]}},
        "filter":{{"disabled":[{{"name":"*"}}],"enabled":[{{"name":"DefaultEvictor"}}]}}}},"pluginConfig":[
        {{"name":"LowNodeLoad","args":{{"lowThresholds":{{"cpu":45}},"highThresholds":{{"cpu":75}},
                                        "anomalyCondition":{{"consecutiveAbnormalities":1}}}}}},
        {{"name":"DefaultEvictor","args":{}}}]}}]}})",
                          args));
  }
  void start(const std::string& mode, const std::string& balance = "LowNodeLoad",
             bool dryRun = false) {
    startWith(fmt::format(
        R"({{
      "apiVersion":"descheduler/v1alpha2","kind":"DeschedulerConfiguration","deschedulingInterval":"10s","dryRun":{},
      "profiles":[{{"name":"one","plugins":{{"balance":{{"enabled":[{}]}}}},"pluginConfig":[
        {{"name":"LowNodeLoad","args":{{"lowThresholds":{{"cpu":45}},"highThresholds":{{"cpu":75}},
                                        "anomalyCondition":{{"consecutiveAbnormalities":1}}}}}},
        {{"name":"MigrationController","args":{{"defaultJobMode":"{}"}}}}]}}]}})",
        dryRun, balance.empty() ? "" : fmt::format(R"({{"name":"{}"}})", balance), mode));
  }
  void startWith(const std::string& text) {
    auto config = readConfig(text, "test");
    ASSERT_TRUE(config) << config.error().text();
    auto made = Descheduler::make({.client = client.get(),
                                   .owner = &owner,
                                   .home = &worker.mailbox(),
                                   .clock = &clock,
                                   .metrics = &metrics},
                                  std::move(*config));
    ASSERT_TRUE(made) << made.error().text();
    descheduler = std::move(*made);
    descheduler->start();
    descheduler->lead();
  }
  // Runs the owner while virtual time flows, until the condition holds; false after a while.
  template <class Condition>
  bool until(Condition condition, Duration step = 5ms) {
    const MonoTime giveUp = realClock().mono() + 10s;
    while (realClock().mono() < giveUp) {
      if (condition()) return true;
      if (!owner.runOne(2ms)) clock.advance(step);
    }
    return false;
  }
  std::vector<api::PodMigrationJob> jobs() const {
    std::vector<api::PodMigrationJob> out;
    for (const auto& [key, text] : api.truth(kind::kPodMigrationJob)) {
      out.push_back(*api::decodeText<api::PodMigrationJob>(text));
    }
    return out;
  }
  std::string phase() const { return jobs().empty() ? "no job" : jobs()[0].status.phase; }
  std::string reasonOf() const { return jobs().empty() ? "" : jobs()[0].status.reason; }
  bool hasPod(const std::string& name) const { return api.truth(kind::kPod).contains("d/" + name); }
  size_t reservations() const { return api.truth(kind::kReservation).size(); }
  // What the scheduler would do with the only reservation.
  void reservationIs(const std::string& state, const std::string& on,
                     const std::string& holder = "") {
    const auto [name, text] = *api.truth(kind::kReservation).begin();
    json::Value object = *json::parse(text);
    object.as_object()["status"] = *json::parse(fmt::format(
        R"({{"phase":"{}","nodeName":"{}","conditions":[{{"type":"Scheduled","status":"True"}}],"currentOwners":[{}]}})",
        state, on,
        holder.empty() ? "" : fmt::format(R"({{"namespace":"d","name":"{}"}})", holder)));
    api.put(kind::kReservation, "", name, json::write(object));
  }

  net::Loop loop;
  VirtualClock clock;
  client::testing::FakeApi api;
  std::unique_ptr<client::HttpApiClient> client;
  client::Worker worker;
  Mailbox owner;
  Registry metrics;
  std::unique_ptr<Descheduler> descheduler;
};

TEST_F(WholeDescheduler, AHotNodeGivesUpAPod) {
  start("EvictDirectly");
  ASSERT_TRUE(until([&] { return phase() == "Succeeded"; })) << phase() << reasonOf();
  EXPECT_FALSE(hasPod("p0"));
  const auto made = jobs();
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0].spec.podRef->uid, "uid-p0");
  EXPECT_EQ(made[0].meta.annotations.get("koordinator.sh/evict-trigger"), "LowNodeLoad");
  EXPECT_THAT(std::string(*made[0].meta.annotations.get("koordinator.sh/evict-reason")),
              ::testing::StartsWith("node is overutilized, node cpu usage(98.75%)"));
}

TEST_F(WholeDescheduler, TheDefaultEvictorNeedsNoJob) {
  startDirect("{}");
  ASSERT_TRUE(until([&] { return !hasPod("p0"); }));
  EXPECT_TRUE(jobs().empty());
}

TEST_F(WholeDescheduler, TheDefaultEvictorSparesWhomItsArgumentsSpare) {
  startDirect(R"({"minPodAge":"1h","nodeFit":true})");
  ASSERT_TRUE(until([&] { return descheduler->waitingFor().empty(); }));
  EXPECT_TRUE(descheduler->cycle().empty());
  until([&, looks = 0]() mutable { return ++looks > 50; });
  EXPECT_TRUE(hasPod("p0"));
}

TEST_F(WholeDescheduler, ADryRunMakesNoJob) {
  start("EvictDirectly", "LowNodeLoad", true);
  ASSERT_TRUE(until([&] { return descheduler->waitingFor().empty(); }));
  EXPECT_TRUE(descheduler->cycle().empty());
  until([&, looks = 0]() mutable { return ++looks > 50; });
  EXPECT_TRUE(jobs().empty());
  EXPECT_TRUE(hasPod("p0"));
}

TEST_F(WholeDescheduler, NobodyLeavesBeforeItsPlaceIsThere) {
  start("ReservationFirst");
  ASSERT_TRUE(until([&] { return reservations() == 1 && phase() == "Running"; }));
  EXPECT_TRUE(hasPod("p0"));
  reservationIs("Available", "cold");
  ASSERT_TRUE(until([&] { return !hasPod("p0"); }));
  pod("p0-new", "cold");
  reservationIs("Succeeded", "cold", "p0-new");
  ASSERT_TRUE(until([&] { return phase() == "Succeeded"; })) << phase() << reasonOf();
  EXPECT_EQ(jobs()[0].status.nodeName, "cold");
  EXPECT_EQ(jobs()[0].status.podRef->name, "p0-new");
}

TEST_F(WholeDescheduler, AnotherProcessGoesOnWhereOneEnded) {
  start("ReservationFirst");
  ASSERT_TRUE(until([&] { return reservations() == 1 && phase() == "Running"; }));
  reservationIs("Available", "cold");
  ASSERT_TRUE(until([&] { return !hasPod("p0"); }));  // noted or not: the intent was
  descheduler.reset();
  pod("p0-new", "cold");
  reservationIs("Succeeded", "cold", "p0-new");
  start("ReservationFirst", "");
  ASSERT_TRUE(until([&] { return phase() == "Succeeded"; })) << phase() << reasonOf();
}

TEST_F(WholeDescheduler, ADryRunLeavesJobsOfOthersAlone) {
  job("by-hand", "EvictDirectly");
  start("ReservationFirst", "", true);
  ASSERT_TRUE(until([&] { return descheduler->waitingFor().empty(); }));
  until([&, looks = 0]() mutable { return ++looks > 50; });
  EXPECT_TRUE(hasPod("p0"));
  EXPECT_EQ(phase(), "");
}

TEST_F(WholeDescheduler, AJobByHandIsCarriedToItsEnd) {
  job("by-hand", "EvictDirectly");
  start("ReservationFirst", "");
  ASSERT_TRUE(until([&] { return phase() == "Succeeded"; })) << phase() << reasonOf();
}

TEST_F(WholeDescheduler, AJobForAWorkloadOfOneIsForbidden) {
  api.put(kind::kReplicaSet, "d", "rs", R"({"metadata":{"uid":"rs"},"spec":{"replicas":1}})");
  job("by-hand", "EvictDirectly");
  start("ReservationFirst", "");
  ASSERT_TRUE(until([&] { return phase() == "Failed"; }));
  EXPECT_EQ(reasonOf(), "ForbiddenMigratePod");
  EXPECT_TRUE(hasPod("p0"));
}

TEST_F(WholeDescheduler, APausedJobWaitsForApproval) {
  job("by-hand", "EvictDirectly", R"(,"paused":true)");
  start("ReservationFirst", "");
  ASSERT_TRUE(until([&] { return descheduler->waitingFor().empty(); }));
  until([&, looks = 0]() mutable { return ++looks > 50; });
  EXPECT_EQ(phase(), "");
  job("by-hand", "EvictDirectly");
  ASSERT_TRUE(until([&] { return phase() == "Succeeded"; }));
}

TEST_F(WholeDescheduler, ABudgetThatAllowsNothingIsWaitedForUntilTheTtl) {
  std::atomic<int> refused = 0;
  api.setHook([&](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (request.target.find("/eviction") == std::string::npos) return std::nullopt;
    ++refused;
    return net::HttpResponse::json(
        429, R"({"kind":"Status","status":"Failure","reason":"TooManyRequests","code":429})");
  });
  job("by-hand", "EvictDirectly");
  start("ReservationFirst", "");
  ASSERT_TRUE(until([&] { return refused > 3; }, 50ms));
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(conditionOf(jobs()[0].status.conditions, "Eviction")->status, "Unknown")
      << "meant, not sent";
  ASSERT_TRUE(until([&] { return phase() == "Failed"; }, 5s));
  EXPECT_EQ(reasonOf(), "Timeout");
  EXPECT_TRUE(hasPod("p0"));
}

TEST_F(WholeDescheduler, WhatNeverGotAPlaceEndsAndLeavesNothing) {
  start("ReservationFirst", "");
  job("by-hand", "ReservationFirst");
  ASSERT_TRUE(until([&] { return reservations() == 1; }));
  ASSERT_TRUE(until([&] { return phase() == "Failed"; }, 5s));
  EXPECT_EQ(reasonOf(), "Timeout");
  ASSERT_TRUE(until([&] { return reservations() == 0; }));
  EXPECT_TRUE(hasPod("p0"));
  ASSERT_TRUE(until([&] { return jobs().empty(); }, 5s)) << "the scavenger takes it away";
}

TEST_F(WholeDescheduler, ADeletedJobTakesItsReservationAlong) {
  start("ReservationFirst", "");
  job("by-hand", "ReservationFirst");
  ASSERT_TRUE(until([&] { return reservations() == 1 && phase() == "Running"; }));
  until([&, looks = 0]() mutable { return ++looks > 30; });
  api.remove(kind::kPodMigrationJob, "", "by-hand");
  ASSERT_TRUE(until([&] { return reservations() == 0; }));
}

TEST_F(WholeDescheduler, OneNodeIsNoCluster) {  // case 39
  api.remove(kind::kNode, "", "cold");
  start("EvictDirectly");
  ASSERT_TRUE(until([&] { return descheduler->waitingFor().empty(); }));
  const auto errors = descheduler->cycle();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0].text(), ::testing::HasSubstr("1 nodes take part"));
}

}  // namespace
}  // namespace mangrove::descheduler
