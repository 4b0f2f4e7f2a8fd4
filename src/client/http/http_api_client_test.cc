#include "client/http/http_api_client.h"

#include <atomic>
#include <condition_variable>
#include <deque>

#include <gtest/gtest.h>

#include "base/os/files.h"
#include "base/os/log.h"
#include "client/testing/fake_api.h"

namespace mangrove::client {
namespace {

using namespace std::chrono_literals;
using net::HttpRequest;
using net::HttpResponse;
using testing::FakeApi;

// Answers requests from a list, then lets them through.
struct Script {
  std::mutex mutex;
  std::deque<HttpResponse> answers;
  std::vector<HttpRequest> seen;

  testing::Hook hook() {
    return [this](const HttpRequest& request) -> std::optional<HttpResponse> {
      std::lock_guard lock(mutex);
      seen.push_back(request);
      if (answers.empty()) return std::nullopt;
      HttpResponse first = answers.front();
      answers.pop_front();
      return first;
    };
  }
  void answer(int status, const std::string& retryAfter = "", const std::string& body = "no") {
    HttpResponse out = HttpResponse::text(status, body);
    if (!retryAfter.empty()) out.headers.set("Retry-After", retryAfter);
    answers.push_back(out);
  }
};

class HttpApiClientTest : public ::testing::Test {
 protected:
  HttpApiClientTest() { api.setHook(script.hook()); }
  std::unique_ptr<HttpApiClient> make(HttpApiOptions options = {.perSecond = 0},
                                      std::optional<ClientConfig> config = {}) {
    auto made = HttpApiClient::make(loop, realClock(), config ? *config : api.config(), options);
    EXPECT_TRUE(made.has_value()) << made.error().text();
    return std::move(*made);
  }
  static Request creation() {
    Request request;
    request.verb = Verb::kCreate;
    request.ref = {kind::kPod, "d", ""};
    request.body = R"({"metadata":{"name":"new"}})";
    return request;
  }

  net::Loop loop;
  FakeApi api{loop};
  Script script;
};

TEST_F(HttpApiClientTest, readsAndWritesObjects) {
  auto client = make();
  ASSERT_TRUE(client->create(kind::kPod, "d", R"({"metadata":{"name":"a"},"spec":{}})"));
  auto pod = client->get({kind::kPod, "d", "a"});
  ASSERT_TRUE(pod) << pod.error().text();
  EXPECT_NE(pod->find(R"("namespace":"d")"), std::string::npos);
  ASSERT_TRUE(client->patch({kind::kPod, "d", "a"}, PatchType::kMerge, R"({"spec":{"x":1}})"));
  auto page = client->list(kind::kPod);
  ASSERT_TRUE(page) << page.error().text();
  EXPECT_EQ(page->items.size(), 1u);
  EXPECT_FALSE(page->resourceVersion.empty());
  api::ObjectMeta meta;
  meta.ns = Interned("d");
  meta.name = "a";
  ASSERT_TRUE(client->bind(meta, "n1"));
  EXPECT_NE(client->get({kind::kPod, "d", "a"})->find(R"("nodeName":"n1")"), std::string::npos);
  EXPECT_EQ(client->bind(meta, "n2").error().code(), Code::kConflict);
  ASSERT_TRUE(client->remove({kind::kPod, "d", "a"}));
  EXPECT_EQ(client->get({kind::kPod, "d", "a"}).error().code(), Code::kNotFound);
}

TEST_F(HttpApiClientTest, errorsNameVerbObjectServerAndTheServersReason) {
  auto client = make();
  Error missing = client->get({kind::kPod, "d", "nobody"}).error();
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_EQ(missing.detail(), 404);
  EXPECT_EQ(missing.text(),
            "get pods d/nobody at " + client->server() + ": 404: pods \"nobody\" not found");
  ASSERT_TRUE(client->create(kind::kPod, "d", R"({"metadata":{"name":"a"}})"));
  auto again = client->create(kind::kPod, "d", R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(again.error().code(), Code::kExists);
  auto stale =
      client->update({kind::kPod, "d", "a"}, R"({"metadata":{"name":"a","resourceVersion":"1"}})");
  EXPECT_EQ(stale.error().code(), Code::kConflict);
}

TEST_F(HttpApiClientTest, sendsWhatTheServerExpects) {
  auto client = make({.perSecond = 0, .userAgent = "test/1"});
  Query query;
  query.labelSelector = "app in (a,b)";
  query.limit = 7;
  ASSERT_TRUE(client->list(kind::kPod, "d", query));
  const HttpRequest& list = script.seen.back();
  EXPECT_EQ(list.target, "/api/v1/namespaces/d/pods?labelSelector=app%20in%20%28a%2Cb%29&limit=7");
  EXPECT_EQ(list.headers.get("Accept"), "application/json");
  EXPECT_EQ(list.headers.get("User-Agent"), "test/1");
  Query apply;
  apply.fieldManager = "me";
  apply.force = true;
  (void)client->patch({kind::kPod, "d", "a", "status"}, PatchType::kApply, "{}", apply);
  const HttpRequest& patch = script.seen.back();
  EXPECT_EQ(patch.method, "PATCH");
  EXPECT_EQ(patch.target, "/api/v1/namespaces/d/pods/a/status?fieldManager=me&force=true");
  EXPECT_EQ(patch.headers.get("Content-Type"), "application/apply-patch+yaml");
  auto plain = make();
  (void)plain->get({kind::kNode, "", "n"});
  EXPECT_TRUE(script.seen.back().headers.get("User-Agent").starts_with("mangrove/"));
}

TEST_F(HttpApiClientTest, repeatsReadsThroughBadAnswers) {
  api.put(kind::kPod, "d", "a", "{}");
  for (int status : {500, 503, 429}) script.answer(status, status == 429 ? "0" : "");
  auto client = make();
  Request request;
  request.ref = {kind::kPod, "d", "a"};
  auto reply = client->call(request);
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->tries, 4);
  EXPECT_EQ(client->stats().retries, 3u);
}

TEST_F(HttpApiClientTest, neverRepeatsACreationThatMayHaveHappened) {
  auto client = make();
  for (int status : {500, 502, 503, 504}) {
    script.answer(status, "0");
    size_t before = script.seen.size();
    auto reply = client->call(creation());
    ASSERT_FALSE(reply) << status;
    EXPECT_EQ(reply.error().detail(), status);
    EXPECT_EQ(script.seen.size(), before + 1) << status;
  }
}

TEST_F(HttpApiClientTest, repeatsACreationThatTheServerDidNotLookAt) {
  script.answer(429, "0");
  auto reply = make()->call(creation());
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->tries, 2);
}

TEST_F(HttpApiClientTest, aBudgetThatForbidsAnEvictionIsAnAnswer) {
  script.answer(429);
  api::ObjectMeta meta;
  meta.ns = Interned("d");
  meta.name = "a";
  auto evicted = make()->evict(meta);
  EXPECT_EQ(evicted.error().code(), Code::kTooMany);
  EXPECT_EQ(script.seen.size(), 1u);
}

TEST_F(HttpApiClientTest, givesUpInTimeWhenTheServerAsksForMore) {
  script.answer(429, "3600");
  Request request;
  request.ref = {kind::kPod, "d", "a"};
  request.timeout = 5s;
  auto reply = make()->call(request);
  EXPECT_EQ(reply.error().code(), Code::kTooMany);
  EXPECT_EQ(script.seen.size(), 1u);
}

TEST_F(HttpApiClientTest, aServerThatIsNotThereIsUnavailable) {
  ClientConfig config = api.config();
  config.server = "http://127.0.0.1:1";
  Request request;
  request.ref = {kind::kPod, "d", "a"};
  request.maxTries = 2;
  auto reply = make({.perSecond = 0}, config)->call(request);
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().text().find("get pods d/a at 127.0.0.1:1"), std::string::npos)
      << reply.error().text();
  EXPECT_NE(reply.error().text().find("tried 2 times"), std::string::npos) << reply.error().text();
}

TEST_F(HttpApiClientTest, logsAWarningOnce) {
  LogCapture logs;
  HttpResponse warned = HttpResponse::json(200, "{}");
  warned.headers.add("Warning", R"(299 - "v1beta1 is \"old\"")");
  script.answers = {warned, warned};
  auto client = make();
  Request request;
  request.ref = {kind::kPod, "d", "a"};
  auto reply = client->call(request);
  ASSERT_EQ(reply->warnings.size(), 1u);
  EXPECT_EQ(reply->warnings[0], "v1beta1 is \"old\"");
  (void)client->call(request);
  size_t lines = 0;
  for (const auto& line : logs.lines())
    lines += line.message.find("is \"old\"") != std::string::npos;
  EXPECT_EQ(lines, 1u);
}

TEST_F(HttpApiClientTest, theRateLimitHoldsAndFlowsTakeTurns) {
  api.setHook({});
  auto client = make({.perSecond = 50, .burst = 1});
  std::mutex mutex;
  std::condition_variable done;
  std::vector<std::string> order;
  MonoTime start = realClock().mono();
  auto send = [&](const std::string& flow) {
    Request request;
    request.ref = {kind::kPod, "d", "a"};
    request.flow = flow;
    client->submit(request, [&, flow](Result<Reply>) {
      std::lock_guard lock(mutex);
      order.push_back(flow);
      done.notify_one();
    });
  };
  for (int i = 0; i < 10; ++i) send("bulk");
  send("lease");
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return order.size() == 11; });
  EXPECT_GE(realClock().mono() - start, 190ms) << "11 requests at 50/s, one token at hand";
  auto lease = std::find(order.begin(), order.end(), "lease") - order.begin();
  EXPECT_LE(lease, 3) << "does not wait behind all of the bulk";
}

TEST_F(HttpApiClientTest, aRotatedTokenFileIsReadAgainAfterA401) {
  std::string dir = "/tmp";
  std::string path = dir + "/mangrove-token-" + std::to_string(::getpid());
  ASSERT_TRUE(writeFileAtomically(path, "old\n"));
  api.setToken("old");
  ClientConfig config = api.config();
  config.token.clear();
  config.tokenFile = path;
  auto client = make({.perSecond = 0}, config);
  ASSERT_TRUE(client->list(kind::kPod));
  api.setToken("new");
  EXPECT_EQ(client->list(kind::kPod).error().code(), Code::kUnauthorized) << "file not rotated yet";
  ASSERT_TRUE(writeFileAtomically(path, "new\n"));
  auto listed = client->list(kind::kPod);
  EXPECT_TRUE(listed) << listed.error().text();
  ::unlink(path.c_str());
}

TEST_F(HttpApiClientTest, whatIsPendingEndsWhenTheClientGoes) {
  auto client = make({.perSecond = 0.001, .burst = 1});
  std::atomic<int> cancelled = 0;
  for (int i = 0; i < 5; ++i)
    client->submit(creation(), [&](Result<Reply> reply) {
      if (!reply && reply.error().code() == Code::kCancelled) ++cancelled;
    });
  client.reset();
  EXPECT_GE(cancelled, 4);
}

// Collects a watch's callbacks for a waiting test.
struct WatchLog {
  std::mutex mutex;
  std::condition_variable changed;
  std::string lines;
  bool opened = false;
  std::optional<Result<>> end;

  WatchHandler handler() {
    WatchHandler out;
    out.onOpen = [this] { set([&] { opened = true; }); };
    out.onEvents = [this](std::string more) {
      set([&] { lines += more; });
      return true;
    };
    out.onEnd = [this](Result<> result) { set([&] { end = std::move(result); }); };
    return out;
  }
  template <class F>
  void set(F f) {
    std::lock_guard lock(mutex);
    f();
    changed.notify_all();
  }
  template <class F>
  bool await(F f) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, 20s, f);
  }
};

TEST_F(HttpApiClientTest, watchesDeliverWholeLinesAndTheirEnd) {
  api.put(kind::kPod, "d", "a", "{}");
  auto client = make();
  WatchLog log;
  WatchRequest request;
  request.kind = kind::kPod;
  request.query.resourceVersion = std::to_string(api.version());
  auto watch = client->watch(request, log.handler());
  ASSERT_TRUE(log.await([&] { return log.opened; }));
  ASSERT_TRUE(log.await([&] { return api.openWatches() == 1; }));
  api.put(kind::kPod, "d", "b", "{}");
  ASSERT_TRUE(log.await([&] { return log.lines.ends_with("}\n"); }));
  EXPECT_NE(log.lines.find(R"("type":"ADDED")"), std::string::npos);
  api.endWatches();
  ASSERT_TRUE(log.await([&] { return log.end.has_value(); }));
  EXPECT_TRUE(log.end->has_value()) << log.end->error().text();
}

TEST_F(HttpApiClientTest, aDroppedOrSilentWatchEndsWithAnError) {
  auto client = make();
  for (bool silent : {false, true}) {
    WatchLog log;
    WatchRequest request;
    request.kind = kind::kPod;
    request.query.resourceVersion = std::to_string(api.version());
    request.idleTimeout = 200ms;
    auto watch = client->watch(request, log.handler());
    ASSERT_TRUE(log.await([&] { return log.opened; }));
    silent ? api.silenceWatches() : api.dropWatches();
    ASSERT_TRUE(log.await([&] { return log.end.has_value(); }));
    EXPECT_FALSE(log.end->has_value()) << silent;
  }
}

TEST_F(HttpApiClientTest, anExpiredPositionIsGone) {
  api.put(kind::kPod, "d", "a", "{}");
  api.compact();
  auto client = make();
  WatchLog log;
  WatchRequest request;
  request.kind = kind::kPod;
  request.query.resourceVersion = "1";
  auto watch = client->watch(request, log.handler());
  ASSERT_TRUE(log.await([&] { return log.end.has_value(); }));
  EXPECT_EQ(log.end->error().code(), Code::kGone);
  EXPECT_FALSE(log.opened);
}

TEST_F(HttpApiClientTest, openingAWatchHonoursRetryAfter) {
  script.answer(429, "0");
  script.answer(503, "0");
  auto client = make();
  WatchLog log;
  WatchRequest request;
  request.kind = kind::kPod;
  request.query.resourceVersion = std::to_string(api.version());
  auto watch = client->watch(request, log.handler());
  EXPECT_TRUE(log.await([&] { return log.opened; }));
}

}  // namespace
}  // namespace mangrove::client
