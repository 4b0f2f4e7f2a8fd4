#pragma once
// The whole manager beside a small API server, for tests: virtual time, nodes and reports in one
// line, and what the server has in the end.

#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/object/node.h"
#include "api/object/node_pause.h"
#include "api/wire/names.h"
#include "base/testing/wait.h"
#include "base/text/time_text.h"
#include "client/events/event_recorder.h"
#include "client/http/http_api_client.h"
#include "client/queue/worker.h"
#include "client/testing/fake_api.h"
#include "manager/manager.h"

namespace mangrove::manager::testing {

using namespace std::chrono_literals;
namespace kind = client::kind;

class ManagerTest : public ::testing::Test {
 protected:
  ManagerTest()
      : clock(*parseTime("2026-03-01T12:00:00Z")),
        api(loop, {.seed = 7, .retryAfter = 0}),
        client(*client::HttpApiClient::make(loop, realClock(), api.config(), {.perSecond = 0})) {
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
  void batchPod(const char* name, int cpu, const char* annotations) {
    api.put(
        kind::kPod, "d", name,
        fmt::format(
            R"({{"metadata":{{"labels":{{"koordinator.sh/qosClass":"BE"}},"annotations":{{{}}}}},"spec":{{"nodeName":"n1","containers":[{{"name":"c","resources":{{"requests":{{"kubernetes.io/batch-cpu":"{}"}}}}}}]}},"status":{{"phase":"Running"}}}})",
            annotations, cpu));
  }
  void start(ManagerOptions options = {}) {
    manager = std::make_unique<Manager>(ManagerParts{.client = client.get(),
                                                     .owner = &owner,
                                                     .home = &worker.mailbox(),
                                                     .clock = &clock,
                                                     .metrics = &metrics,
                                                     .events = &events},
                                        std::move(options));
    manager->start();
  }
  // Runs the owner while virtual time flows, until the condition holds; false after a while.
  template <class Condition>
  bool until(Condition condition) {
    return runUntil(owner, clock, std::move(condition));
  }
  // What a node has of a resource: "none" when it has no such thing.
  std::string amountOf(const std::string& name, std::string_view resource) const {
    const auto truth = api.truth(kind::kNode);
    const auto at = truth.find(name);
    if (at == truth.end()) return "no node";
    const auto node = api::decodeText<api::Node>(at->second);
    const Quantity* amount = node->status.allocatable.find(resource);
    return amount ? std::to_string(amount->value()) : "none";
  }
  std::string batchCpu(const std::string& name) const {
    return amountOf(name, api::resource::kBatchCpu);
  }
  // Messages of the Events with this reason.
  std::vector<std::string> told(const std::string& reason) const {
    std::vector<std::string> out;
    for (const auto& [key, text] : api.truth(kind::kEvent)) {
      const auto event = json::parse(text);
      if (event->at("reason").as_string() == reason)
        out.emplace_back(event->at("message").as_string());
    }
    return out;
  }
  // One node with what it has to sell, and nothing left to do.
  bool leadsOneNode() {
    node("n1");
    report("n1", 33, clock.wall());
    start();
    manager->lead();
    return until([&] { return batchCpu("n1") == "25000"; }) && settle();
  }
  // Leads again right after giving up with a write under way; `answered` becomes true with it.
  bool leavesAWriteUnderWay(bool& answered) {
    answered = true;
    for (int i = 0; answered && i < 16; i++) {
      report("n1", i % 2 ? 33 : 13, clock.wall());
      if (!until([&] { return !manager->idle(); })) return false;
      owner.runOne(1ms);  // sends
      answered = false;
      manager->yield([&] { answered = true; });
      manager->lead();
    }
    return !answered;
  }
  bool settle() {
    return until([&] { return manager->idle(); }) && until([&, calm = 0]() mutable {
             return manager->idle() ? ++calm > 40 : (calm = 0) > 0;
           });
  }

  static constexpr const char* kSpec =
      R"({"metricCollectPolicy":{"aggregateDurationSeconds":300,"reportIntervalSeconds":60,"nodeAggregatePolicy":{"durations":["5m0s","10m0s","30m0s"]},"nodeMemoryCollectPolicy":"usageWithoutPageCache"}})";

  Mailbox owner;  // outlives the loop's thread, which posts answers into it
  VirtualClock clock;
  net::Loop loop{1};
  client::testing::FakeApi api;
  Registry metrics;
  std::unique_ptr<client::HttpApiClient> client;
  client::Worker worker;
  client::EventRecorder events{*client, worker.mailbox(), clock, {.component = "test"}};
  std::unique_ptr<Manager> manager;
};

// A whole night and morning, from the policy to the eviction.
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
    policy(
        "p",
        R"("cpu":{"safePercent":100},"memory":{"safePercent":100},"windows":[{"name":"night","start":"01:00","end":"08:00","mode":"Full","gracePeriod":"30m"}],"default":{"mode":"Ratio","ratio":0.3})");
  }
  void policy(const char* name, const std::string& spec) {
    api.put({"colocation.mangrove.io", "v1alpha1", "ColocationTimePolicy", "colocationtimepolicies",
             false, false},
            "", name,
            R"({"spec":{"nodeSelector":{"matchLabels":{"pool":"online"}},)" + spec + "}}");
  }
  void refresh() {
    api.put(
        kind::kNodeMetric, "", "n1",
        fmt::format(
            R"({{"spec":{},"status":{{"updateTime":"{}","nodeMetric":{{"nodeUsage":{{"resources":{{"cpu":"0","memory":"0"}}}}}}}}}})",
            kSpec, formatTime(clock.wall())));
  }
  void pass(Duration time) {
    clock.advance(time);
    refresh();
  }
  bool tainted() const {
    return api.truth(kind::kNode).at("n1").find("colocation-draining") != std::string::npos;
  }
  bool hears(const char* pod) const {
    return api.truth(kind::kPod)
               .at(pod)
               .find(R"("colocation.mangrove.io/drain-at":"2026-03-01T08:00:00Z")") !=
           std::string::npos;
  }
};

}  // namespace mangrove::manager::testing
