// What goes over the wire for interference: latencies that services tell, and fences of all nodes.
#include <atomic>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/qos/interference/fence_exchange.h"
#include "agent/qos/interference/latency_watch.h"
#include "agent/qos/interference/reporter.h"
#include "api/interference/fences.h"
#include "api/wire/decode.h"
#include "base/check.h"
#include "base/testing/wait.h"
#include "client/testing/scripted_client.h"
#include "json/value.h"
#include "net/server/http_server.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;

// A service with a metrics page, whose answers take as long as the test says.
class Shop {
 public:
  Shop() {
    auto made = net::HttpServer::listen(loop, {}, [this](std::shared_ptr<net::Exchange> exchange) {
      const int n = ++asked;
      exchange->reply(net::HttpResponse::text(
          200, fmt::format("request_seconds_bucket{{le=\"0.01\"}} {}\n"
                           "request_seconds_bucket{{le=\"0.1\"}} {}\n"
                           "request_seconds_bucket{{le=\"+Inf\"}} {}\n",
                           100 * n, 100 * n + slow.load(), 100 * n + slow.load())));
    });
    CHECK(made, "{}", made.error().text());
    server = *std::move(made);
  }
  PodPtr pod(const std::string& annotation) const {
    auto out = api::decodeText<api::Pod>(
        R"({"metadata":{"name":"web","namespace":"shop","uid":"u1"},)"
        R"("spec":{"containers":[{"name":"c"}]},"status":{"podIP":"127.0.0.1"}})");
    out->meta.annotations.set(api::kLatencyAnnotation, annotation);
    return std::make_shared<const api::Pod>(*std::move(out));
  }

  std::atomic<int> asked = 0, slow = 0;
  net::Loop loop;
  std::unique_ptr<net::HttpServer> server;
  Mailbox owner;
  std::shared_ptr<InterferenceBoard> board = std::make_shared<InterferenceBoard>();
};

Look lookAt(std::span<const PodLook> pods) {
  Look look;
  look.pods = pods;
  return look;
}

TEST(LatencyWatch, ReadsTheMetricsPageOfAService) {
  Shop shop;
  LatencyWatch watch(shop.loop, shop.owner, realClock(), shop.board);
  shop.board->looks = true;
  shop.board->watched.insert("u1");
  std::vector<PodLook> pods(1);
  pods[0].pod = shop.pod(fmt::format(
      R"({{"prometheus":"http://:{}/metrics","histogram":"request_seconds","promisedMs":20}})",
      shop.server->port()));
  const auto tick = [&] {
    shop.owner.drain();
    watch.follow(lookAt(pods));
    return shop.board->latency["u1"].tailMs;
  };
  ASSERT_TRUE(eventually([&] { return tick().has_value(); }));
  EXPECT_LE(*shop.board->latency["u1"].tailMs, 10);
  shop.slow = 50;
  ASSERT_TRUE(eventually([&] { return tick().value_or(0) > 10; }))
      << "the slow ones are in the tail";
  EXPECT_TRUE(watch.troubles().empty());
  shop.board->looks = false;
  watch.follow(lookAt(pods));
  EXPECT_TRUE(shop.board->latency.empty()) << "nobody wants to know";
}

TEST(LatencyWatch, AsksItselfAndSaysWhatIsWrong) {
  Shop shop;
  LatencyWatch watch(shop.loop, shop.owner, realClock(), shop.board);
  shop.board->looks = true;
  std::vector<PodLook> pods(1);
  pods[0].pod = shop.pod(fmt::format(R"({{"probe":"http://:{}/"}})", shop.server->port()));
  ASSERT_TRUE(eventually([&] {
    shop.owner.drain();
    watch.follow(lookAt(pods));
    return shop.board->latency["u1"].tailMs.has_value();
  }));
  EXPECT_LT(*shop.board->latency["u1"].tailMs, 1000);
  for (const char* bad : {R"({"probe":"http://10.0.0.1:80/"})", R"({"prometheus":"http://:1/"})",
                          R"({})", R"({"probe":"http://:1/","quantile":2})"}) {
    LatencyWatch other(shop.loop, shop.owner, realClock(), shop.board);
    pods[0].pod = shop.pod(bad);
    other.follow(lookAt(pods));
    EXPECT_EQ(other.troubles().count("u1"), 1u) << bad;
  }
}

TEST(InterferenceReporter, CreatesOnceAndBringsUpToDateWhatAPredecessorMade) {
  client::testing::ScriptedClient api;
  Mailbox owner;
  InterferenceReporter reporter(api, owner);
  api::InterferenceReport report;
  report.meta.ns = Interned("shop");
  report.meta.name = api::Text("web-1");
  report.status.outcome = "Resolved";
  reporter.tell({report});
  ASSERT_EQ(api.pending.size(), 1u);
  EXPECT_EQ(api.pending[0].first.verb, client::Verb::kCreate);
  EXPECT_EQ(api.pending[0].first.ref.name, "")
      << "a server refuses a new object's name in the path";
  api.reply(409, R"({"reason":"AlreadyExists"})");
  owner.drain();
  ASSERT_EQ(api.pending.size(), 1u) << "the end is not lost";
  EXPECT_EQ(api.pending[0].first.verb, client::Verb::kPatch);
  EXPECT_EQ(api.pending[0].first.ref.name, "web-1");
  EXPECT_NE(api.pending[0].first.body.find("Resolved"), std::string::npos);
  api.reply(200, "{}");
  owner.drain();
  EXPECT_TRUE(api.pending.empty());
}

TEST(FenceExchange, TellsItsOwnAndReadsAllNodes) {
  client::testing::ScriptedClient api;
  Mailbox owner;
  auto board = std::make_shared<InterferenceBoard>();
  FenceExchange fences(api, owner, board, "n1");
  const std::string key = "Xeon|shop/web||2.0";
  fences.follow(MonoTime{} + 1s);
  EXPECT_TRUE(api.pending.empty()) << "nobody to ask for";
  board->workloads = {key};
  board->ownBook = R"({"workloads":{}})";
  fences.follow(MonoTime{} + 2s);
  ASSERT_EQ(api.pending.size(), 1u);
  EXPECT_EQ(api.pending[0].first.verb, client::Verb::kPatch);
  api.reply(404, "{}");
  owner.drain();
  ASSERT_EQ(api.pending.size(), 1u);
  EXPECT_EQ(api.pending[0].first.verb, client::Verb::kCreate);
  EXPECT_EQ(api.pending[0].first.ref.name, "")
      << "a server refuses a new object's name in the path";
  api.reply(201, "{}");
  owner.drain();
  ASSERT_EQ(api.pending.size(), 1u);
  EXPECT_EQ(api.pending[0].first.ref.name, api::workloadFencesName(key));
  api::FenceBook book;
  for (int i = 0; i < 100; ++i)
    book.learn(key, 2, 150, {{"cpi", 1.5 + 0.01 * (i % 7)}}, WallTime{});
  const api::InterferenceFencesSpec spec{.workload = key, .book = json::write(book.state())};
  api.reply(200, json::write(json::Object{{"spec", toJson(spec)}}));
  owner.drain();
  EXPECT_EQ(board->pooled.fence(key, 2, 150, "cpi").state, api::Fence::State::kLearned);
  fences.follow(MonoTime{} + 60s);
  EXPECT_TRUE(api.pending.empty()) << "again in an hour";
  fences.follow(MonoTime{} + 3700s);
  EXPECT_EQ(api.pending.size(), 1u);
}

}  // namespace
}  // namespace mangrove::agent
