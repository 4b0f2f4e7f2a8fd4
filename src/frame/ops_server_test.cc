#include "frame/ops_server.h"

#include <gtest/gtest.h>

#include "frame/ops_guard.h"
#include "net/client/http_client.h"

namespace mangrove::frame {
namespace {

TEST(ListenAddress, ReadsTheUsualSpellings) {
  EXPECT_EQ(parseListenAddress(":9316")->host, "0.0.0.0");
  EXPECT_EQ(parseListenAddress(":9316")->port, 9316);
  EXPECT_EQ(parseListenAddress("127.0.0.1:80")->host, "127.0.0.1");
  EXPECT_EQ(parseListenAddress("[::1]:80")->host, "::1");
  EXPECT_TRUE(parseListenAddress("0")->disabled);
  EXPECT_TRUE(parseListenAddress("")->disabled);
  for (auto bad : {"9316", "host:", "host:x", "host:70000", "host:-1"}) {
    EXPECT_FALSE(parseListenAddress(bad)) << bad;
  }
}

TEST(OpenPages, AreHealthVersionAndMetricsOnly) {
  for (auto path : {"/healthz", "/livez", "/readyz", "/version", "/metrics", "/metrics/resources",
                    "/internal-metrics", "/external-metrics", "/all-metrics"})
    EXPECT_TRUE(isOpenPage(path)) << path;
  for (auto path : {"/controls", "/enforcement", "/events", "/configz", "/apis/v1/nodes/n1",
                    "/debug/flags/v", "/metricsx", "/healthz/x", "/", "/apis/v1/nodes/n-metrics",
                    "/debug/flags/x-metrics", "/metrics/x"})
    EXPECT_FALSE(isOpenPage(path)) << path;
}

TEST(Health, ReadinessIncludesLiveness) {
  Health health;
  bool alive = true;
  health.live("heart", [&]() -> Result<> { return alive ? Result<>{} : invalid("stopped"); });
  health.ready("cache", [] { return Result<>{}; });
  EXPECT_TRUE(health.liveness().good);
  EXPECT_TRUE(health.readiness().good);
  alive = false;
  EXPECT_FALSE(health.readiness().good);
  EXPECT_EQ(health.liveness().text, "[-]heart failed: stopped\nhealthz check failed\n");
}

class OpsServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    health_.ready("cache", [this]() -> Result<> {
      return synced_ ? Result<>{} : fail(Code::kUnavailable, "not synced");
    });
    registry_.counter("mangrove_test_total", "Things.").inc(2);
    auto ops = OpsServer::start(loop_, {.host = "127.0.0.1", .port = 0, .disabled = false}, health_,
                                registry_);
    ASSERT_TRUE(ops) << ops.error().text();
    ops_ = std::move(*ops);
    net::ClientOptions options;
    options.base = *net::Url::parse(fmt::format("http://127.0.0.1:{}", ops_->port()));
    auto client = net::HttpClient::create(loop_, options);
    ASSERT_TRUE(client);
    client_ = std::move(*client);
  }
  net::HttpResponse get(std::string target, std::string method = "GET", net::Headers headers = {}) {
    auto answer = client_->call(
        {.method = method, .target = target, .headers = headers, .body = {}, .peer = {}});
    EXPECT_TRUE(answer);
    return answer ? *answer : net::HttpResponse{};
  }

  net::Loop loop_;
  Health health_;
  Registry registry_;
  std::atomic<bool> synced_ = false;
  std::unique_ptr<OpsServer> ops_;
  std::unique_ptr<net::HttpClient> client_;
};

TEST_F(OpsServerTest, RoutesThatEndWithASlashStandForWhatIsBelow) {
  const auto say = [](std::string word) {
    return [word](const net::HttpRequest&) { return net::HttpResponse::text(200, word); };
  };
  ops_->route("/apis/v1/", say("all"));
  ops_->route("/apis/v1/nodes/", say("nodes"));
  EXPECT_EQ(get("/apis/v1/plugins/x").body, "all");
  EXPECT_EQ(get("/apis/v1/nodes/n1?x=1").body, "nodes");
  EXPECT_EQ(get("/apis/v2").status, 404);
}

TEST_F(OpsServerTest, SaysAliveReadyAndWhyNot) {
  EXPECT_EQ(get("/healthz").body, "ok");
  EXPECT_EQ(get("/readyz").status, 500);
  EXPECT_NE(get("/readyz").body.find("[-]cache failed: not synced"), std::string::npos);
  synced_ = true;
  EXPECT_EQ(get("/readyz").body, "ok");
  EXPECT_NE(get("/readyz?verbose").body.find("[+]cache ok"), std::string::npos);
}

TEST_F(OpsServerTest, ServesMetricsVersionAndOwnRoutes) {
  EXPECT_NE(get("/metrics").body.find("mangrove_test_total 2"), std::string::npos);
  EXPECT_NE(get("/version").body.find("gitVersion"), std::string::npos);
  ops_->route("/events",
              [](const net::HttpRequest&) { return net::HttpResponse::json(200, "[]"); });
  EXPECT_EQ(get("/events?limit=1").body, "[]");
  EXPECT_EQ(get("/nothing").status, 404);
  EXPECT_EQ(get("/metrics", "POST").status, 405);
}

TEST_F(OpsServerTest, OtherPagesAreShownToWhomTheGuardLets) {
  const auto page = [](const net::HttpRequest&) { return net::HttpResponse::text(200, "held"); };
  ops_->route("/controls", page);
  ops_->route("/debug/flags/", page);
  std::vector<std::string> asked;
  ops_->guard([&](Viewer viewer, OpsServer::Verdict say) {
    asked.push_back(viewer.token + " " + viewer.verb + " " + viewer.path);
    if (viewer.token == "good") return say({});
    say(fail(viewer.token == "poor" ? Code::kDenied : Code::kUnauthorized, "no"));
  });
  const auto with = [](const std::string& token) {
    return net::Headers{{"Authorization", "Bearer " + token}};
  };
  EXPECT_EQ(get("/controls").status, 401) << "no token";
  EXPECT_EQ(get("/controls?x=1", "GET", with("bad")).status, 401);
  EXPECT_EQ(get("/controls", "GET", with("poor")).status, 403);
  EXPECT_EQ(get("/controls", "GET", with("good")).body, "held");
  EXPECT_EQ(get("/debug/flags/v", "PUT", with("good")).body, "held");
  EXPECT_EQ(get("/metrics").status, 200) << "metrics are for everybody";
  EXPECT_EQ(asked, (std::vector<std::string>{"bad get /controls", "poor get /controls",
                                             "good get /controls", "good put /debug/flags/v"}));
  ops_->guard({});
  EXPECT_EQ(get("/controls").body, "held") << "on loopback, where there is no API server to ask";
  EXPECT_EQ(get("/controls", "GET", {{"Host", "page.example"}}).status, 403) << "a rebound name";
  EXPECT_EQ(get("/metrics", "GET", {{"Host", "page.example"}}).status, 200);
}

TEST(OpsGuard, AsksTheApiServerTwice) {
  const Viewer viewer{"t", "get", "/controls"};
  EXPECT_EQ(accessReviewFor(R"({"status":{"authenticated":false}})", viewer).error().code(),
            Code::kUnauthorized);
  EXPECT_EQ(accessReviewFor("{}", viewer).error().code(), Code::kUnauthorized);
  EXPECT_FALSE(accessReviewFor("nonsense", viewer));
  auto next = accessReviewFor(
      R"({"status":{"authenticated":true,"user":{"username":"u","groups":["g"],"uid":"1"}}})",
      viewer);
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_NE(next->find(R"("nonResourceAttributes":{"path":"/controls","verb":"get"})"),
            std::string::npos)
      << *next;
  EXPECT_NE(next->find(R"("user":"u","groups":["g"],"uid":"1")"), std::string::npos) << *next;
  const auto below = accessReviewFor(R"({"status":{"authenticated":true,"user":{"username":"u"}}})",
                                     {"t", "get", "/apis/v1/nodes/n1"});
  EXPECT_NE(below->find(R"("path":"/pages/apis/v1/nodes/n1")"), std::string::npos)
      << "whoever is known may get /apis/* of an API server";
  EXPECT_TRUE(allowedBy(R"({"status":{"allowed":true}})", viewer));
  auto denied = allowedBy(R"({"status":{"allowed":false,"reason":"no role"}})", viewer);
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code(), Code::kDenied);
  EXPECT_NE(denied.error().text().find("no role"), std::string::npos);
}

}  // namespace
}  // namespace mangrove::frame
