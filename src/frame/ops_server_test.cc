#include "frame/ops_server.h"

#include <gtest/gtest.h>

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
  net::HttpResponse get(std::string target, std::string method = "GET") {
    auto answer =
        client_->call({.method = method, .target = target, .headers = {}, .body = {}, .peer = {}});
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

}  // namespace
}  // namespace mangrove::frame
