#pragma once
// The whole descheduler beside a small API server: two nodes, one of them hot, and a ReplicaSet of
// four of which p0 is on the hot one. Test programs only.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/time_text.h"
#include "client/http/http_api_client.h"
#include "client/queue/worker.h"
#include "client/testing/fake_api.h"
#include "descheduler/descheduler.h"

namespace mangrove::descheduler::testing {

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
  void startWith(const std::string& text, placement::SchedulerConfig scheduler =
                                              placement::defaultConfig({"koord-scheduler"})) {
    auto config = readConfig(text, "test");
    ASSERT_TRUE(config) << config.error().text();
    auto made = Descheduler::make({.client = client.get(),
                                   .owner = &owner,
                                   .home = &worker.mailbox(),
                                   .clock = &clock,
                                   .metrics = &metrics,
                                   .savesFirst = savesFirst,
                                   .noticeNamespace = noticeNamespace,
                                   .scheduler = std::move(scheduler)},
                                  std::move(*config));
    ASSERT_TRUE(made) << made.error().text();
    descheduler = std::move(*made);
    descheduler->start();
    descheduler->lead();
  }
  // Runs the owner while virtual time flows, until the condition holds; false after a while.
  template <class Condition>
  bool until(Condition condition, Duration step = std::chrono::milliseconds(5)) {
    const MonoTime giveUp = realClock().mono() + std::chrono::seconds(10);
    while (realClock().mono() < giveUp) {
      if (condition()) return true;
      if (!owner.runOne(std::chrono::milliseconds(2))) clock.advance(step);
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

  Mailbox owner;  // outlives the loop's thread, which posts answers into it
  net::Loop loop;
  VirtualClock clock;
  client::testing::FakeApi api;
  std::unique_ptr<client::HttpApiClient> client;
  client::Worker worker;
  Registry metrics;
  bool savesFirst = false;
  std::string noticeNamespace;  // "": who stays is written nowhere
  std::unique_ptr<Descheduler> descheduler;
};

}  // namespace mangrove::descheduler::testing
