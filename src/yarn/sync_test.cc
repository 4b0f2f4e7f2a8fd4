// The whole of `mangrove yarn sync` between a small API server and small ResourceManagers over real
// HTTP: capacities follow, a fail-over and a registration are noticed, and what is wrong is said.
#include "yarn/sync.h"

#include <atomic>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/wait.h"
#include "client/http/http_api_client.h"
#include "client/queue/worker.h"
#include "client/testing/fake_api.h"
#include "json/value.h"
#include "net/server/http_server.h"

namespace mangrove::yarn {
namespace {

namespace kind = client::kind;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

// One NodeManager "n1:1", and what was told of it.
class FakeRm {
 public:
  explicit FakeRm(net::Loop& loop, bool active) : active_(active) {
    auto server = net::HttpServer::listen(
        loop, {}, [this](std::shared_ptr<net::Exchange> x) { x->reply(answer(x->request())); });
    server_ = std::move(*server);
  }
  std::string address() const { return fmt::format("http://127.0.0.1:{}", server_->port()); }
  void setActive(bool active) { active_ = active; }
  void setUsed(Capacity used) {
    std::lock_guard lock(mutex_);
    used_ = used;
  }
  // As after a registration.
  void forget() {
    std::lock_guard lock(mutex_);
    total_ = {1, 1024};
  }
  Capacity total() const {
    std::lock_guard lock(mutex_);
    return total_;
  }
  std::vector<int64_t> waits() const {
    std::lock_guard lock(mutex_);
    return waits_;
  }
  void refuse(bool refuses) { refuses_ = refuses; }
  void memoryOnly() { vcores_ = false; }

 private:
  net::HttpResponse answer(const net::HttpRequest& request) {
    if (request.target == "/ws/v1/cluster/info")
      return net::HttpResponse::json(200, fmt::format(R"({{"clusterInfo":{{"haState":"{}"}}}})",
                                                      active_ ? "ACTIVE" : "STANDBY"));
    if (!active_) return net::HttpResponse::text(307, "This is standby RM");
    if (request.target == "/cluster/scheduler")
      return net::HttpResponse::text(
          200, vcores_ ? "[memory-mb (unit=Mi), vcores]" : "[memory-mb (unit=Mi)]");
    std::lock_guard lock(mutex_);
    if (request.method == "POST") return take(request);
    return net::HttpResponse::json(
        200,
        fmt::format(R"({{"nodes":{{"node":[{{"id":"n1:1","state":"RUNNING","usedMemoryMB":{},)"
                    R"("availMemoryMB":{},"usedVirtualCores":{},"availableVirtualCores":{}}}]}}}})",
                    used_.memoryMb, total_.memoryMb - used_.memoryMb, used_.vcores,
                    total_.vcores - used_.vcores));
  }
  net::HttpResponse take(const net::HttpRequest& request) {
    if (refuses_) return net::HttpResponse::text(403, "not an administrator");
    const auto body = json::parse(request.body);
    if (request.target != "/ws/v1/cluster/nodes/n1:1/resource?user.name=yarn" || !body)
      return net::HttpResponse::text(404, request.target);
    total_ = {body->at("resource").at("vCores").as_int64(),
              body->at("resource").at("memory").as_int64()};
    waits_.push_back(body->at("overCommitTimeout").as_int64());
    return net::HttpResponse::json(200, "{}");
  }

  std::atomic<bool> active_, refuses_ = false, vcores_ = true;
  mutable std::mutex mutex_;
  Capacity total_{1, 1024}, used_;
  std::vector<int64_t> waits_;
  std::unique_ptr<net::HttpServer> server_;
};

class Syncing : public ::testing::Test {
 protected:
  Syncing() {
    sell(20, 40);
    api.put(kind::kPod, "yarn", "nm",
            R"({"metadata":{"uid":"u","labels":{"app.kubernetes.io/component":"node-manager",)"
            R"("koordinator.sh/qosClass":"BE"},"annotations":{"yarn.hadoop.apache.org/node-id":)"
            R"("n1:1"}},"spec":{"nodeName":"n1","containers":[{"name":"c"}]},)"
            R"("status":{"phase":"Running","startTime":"2026-03-01T11:00:00Z"}})");
  }
  ~Syncing() override {
    sync.reset();
    peers.reset();
  }
  void sell(int cores, int gib) {
    auto truth = api.truth(kind::kNode);
    json::Value node = truth.contains("n1")
                           ? *json::parse(truth["n1"])
                           : json::Value(json::Object{{"metadata", json::Object()}});
    node.as_object()["status"] = json::Object{
        {"allocatable", json::Object{{"kubernetes.io/batch-cpu", fmt::format("{}000", cores)},
                                     {"kubernetes.io/batch-memory", fmt::format("{}Gi", gib)}}}};
    api.put(kind::kNode, "", "n1", json::write(node));
  }
  void start(const std::vector<std::string>& addresses) {
    peers = std::move(*ResourceManagers::make(loop, owner, addresses, "yarn"));
    sync = std::make_unique<YarnSync>(
        SyncSetup{*client, owner, worker.mailbox(), clock, metrics, events, *peers}, SyncOptions{});
    sync->start();
    sync->lead();
  }
  template <class Condition>
  bool until(Condition condition) {
    return runUntil(owner, clock, std::move(condition));
  }
  std::string annotationOf(const client::Kind& of, const std::string& key, std::string_view name) {
    const auto truth = api.truth(of);
    const auto found = truth.find(key);
    if (found == truth.end()) return "";
    const auto object = json::parse(found->second);
    const auto* annotations = object->at("metadata").as_object().if_contains("annotations");
    const auto* text = annotations ? annotations->as_object().if_contains(name) : nullptr;
    return text ? std::string(text->as_string()) : "";
  }
  bool told(const std::string& reason) {
    for (const auto& [key, text] : api.truth(kind::kEvent))
      if (text.find('"' + reason + '"') != std::string::npos) return true;
    return false;
  }

  Mailbox owner;  // outlives the loop's thread, which posts answers into it
  VirtualClock clock{*parseTime("2026-03-01T12:00:00Z")};
  net::Loop loop{1};
  client::testing::FakeApi api{loop, {.seed = 7, .retryAfter = 0}};
  Registry metrics;
  std::unique_ptr<client::HttpApiClient> client =
      *client::HttpApiClient::make(loop, realClock(), api.config(), {.perSecond = 0});
  client::Worker worker;
  client::EventRecorder events{*client, worker.mailbox(), clock, {.component = "test"}};
  FakeRm first{loop, true}, second{loop, false};
  std::unique_ptr<ResourceManagers> peers;
  std::unique_ptr<YarnSync> sync;
};

TEST_F(Syncing, CapacityFollowsAndIsWrittenDown) {
  start({first.address()});
  ASSERT_TRUE(until([&] { return first.total() == Capacity{20, 40'960}; }));
  ASSERT_TRUE(until([&] {
    return annotationOf(kind::kPod, "yarn/nm", api::annotation::kYarnCapacity) ==
           R"({"vcores":20,"memoryMb":40960})";
  }));
  first.setUsed({12, 12'288});
  ASSERT_TRUE(until([&] {
    return annotationOf(kind::kNode, "n1", api::annotation::kThirdPartyAllocations)
               .find(R"("kubernetes.io/batch-cpu":"12k")") != std::string::npos;
  }));
  const MonoTime before = clock.mono();
  sell(8, 40);
  ASSERT_TRUE(until([&] { return first.total().vcores == 8; }));
  EXPECT_LT(clock.mono() - before, Duration(5s)) << "less is told at once";
  EXPECT_EQ(first.waits().back(), 30'000) << "milliseconds";
  sell(20, 40);
  const MonoTime raised = clock.mono();
  while (first.total().vcores == 8 && clock.mono() - raised < 65s) {
    clock.advance(500ms);
    owner.runOne(5ms);
  }
  EXPECT_EQ(first.total().vcores, 20) << "more within 65 s";
}

TEST_F(Syncing, FailOverAndRegistrationAreMended) {
  start({second.address(), first.address()});
  ASSERT_TRUE(until([&] { return first.total().vcores == 20; }));
  EXPECT_EQ(second.total().vcores, 1) << "a standby is told nothing";
  first.setActive(false);
  second.setActive(true);
  ASSERT_TRUE(until([&] { return second.total().vcores == 20; }));
  EXPECT_EQ(peers->active(), second.address());
  const MonoTime before = clock.mono();
  second.forget();
  ASSERT_TRUE(until([&] { return second.total().vcores == 20; }));
  EXPECT_LT(clock.mono() - before, Duration(10s));
}

TEST_F(Syncing, NobodyActiveIsSaidAndWaitedFor) {
  first.setActive(false);
  start({first.address(), second.address()});
  ASSERT_TRUE(until([&] { return sync->waitingFor().find("STANDBY") != std::string::npos; }));
  EXPECT_THAT(sync->waitingFor(), HasSubstr("no ResourceManager is active"));
  first.setActive(true);
  ASSERT_TRUE(until([&] { return first.total().vcores == 20 && sync->waitingFor().empty(); }));
}

TEST_F(Syncing, ARefusedUpdateIsTriedAgain) {
  first.refuse(true);
  start({first.address()});
  auto& counts = metrics.counters("mangrove_yarn_updates_total", "", {"direction", "result"});
  ASSERT_TRUE(until([&] { return counts.with({"up", "failed"}).value() >= 2; }));
  first.refuse(false);
  ASSERT_TRUE(until([&] { return first.total().vcores == 20; }));
}

TEST_F(Syncing, WhatIsWrongIsSaidOnThePod) {
  first.memoryOnly();
  api.put(
      kind::kPod, "yarn", "lost",
      R"({"metadata":{"uid":"v","labels":{"app.kubernetes.io/component":"node-manager",)"
      R"("koordinator.sh/qosClass":"BE"}},"spec":{"nodeName":"n1","containers":[{"name":"c"}]},)"
      R"("status":{"phase":"Running"}})");
  start({first.address()});
  ASSERT_TRUE(until([&] { return told("NodeManagerUnnamed"); }));
  ASSERT_TRUE(until([&] {
    return json::write(sync->status()).find("ResourceCalculatorMemoryOnly") != std::string::npos;
  }));
}

}  // namespace
}  // namespace mangrove::yarn
