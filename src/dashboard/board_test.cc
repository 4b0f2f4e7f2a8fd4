// The dashboard over a socket: pages, the token, the stream.
#include "dashboard/board.h"

#include <condition_variable>

#include <gtest/gtest.h>

#include "dashboard/assets.h"
#include "net/client/http_client.h"

namespace mangrove::dashboard {
namespace {

class BoardTest : public ::testing::Test {
 protected:
  void serve(std::string token) {
    board_ = std::make_unique<Board>(hub_, BoardOptions{std::move(token)});
    auto server = net::HttpServer::listen(loop_, {}, [this](std::shared_ptr<net::Exchange> x) {
      board_->handle("/dashboard/", std::move(x));
    });
    ASSERT_TRUE(server) << server.error().text();
    server_ = std::move(*server);
    auto client = net::HttpClient::create(loop_, {.base = *net::Url::parse(server_->url())});
    ASSERT_TRUE(client);
    client_ = std::move(*client);
  }
  net::HttpResponse get(std::string target, net::Headers headers = {}, std::string method = "GET") {
    net::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.headers = std::move(headers);
    auto answer = client_->call(request);
    EXPECT_TRUE(answer) << answer.error().text();
    return answer ? *answer : net::HttpResponse{};
  }

  net::Loop loop_{1};
  Hub hub_{"n1"};
  std::unique_ptr<Board> board_;
  std::unique_ptr<net::HttpServer> server_;
  std::unique_ptr<net::HttpClient> client_;
};

TEST_F(BoardTest, ServesItsPagesAndTheBrowserKeepsThem) {
  serve("");
  const auto page = get("/dashboard/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.get("Content-Type"), "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("<title>Mangrove</title>"), std::string::npos);
  const std::string tag{page.headers.get("ETag")};
  EXPECT_EQ(get("/dashboard/", {{"If-None-Match", tag}}).status, 304);
  EXPECT_EQ(get("/dashboard/app.js").headers.get("Content-Type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(get("/dashboard/../etc/passwd").status, 404);
  EXPECT_EQ(get("/other").status, 404);
  EXPECT_EQ(get("/dashboard/", {}, "POST").status, 405);
}

// The pages are small and ask nobody else.
TEST_F(BoardTest, PagesAreSmallAndAskNobodyElse) {
  size_t total = 0;
  for (const Asset& asset : webAssets()) {
    total += asset.bytes.size();
    for (std::string_view foreign : {"https://", "//cdn", "@import"})
      EXPECT_EQ(asset.bytes.find(foreign), std::string_view::npos) << asset.name;
  }
  EXPECT_LT(total, 120u * 1024);
}

TEST_F(BoardTest, DataWantsTheTokenAndPagesDoNot) {
  serve("secret");
  EXPECT_EQ(get("/dashboard/").status, 200);
  EXPECT_EQ(get("/dashboard/api/state").status, 401);
  EXPECT_EQ(get("/dashboard/api/state", {{"Authorization", "Bearer secre"}}).status, 401);
  EXPECT_EQ(get("/dashboard/api/state", {{"Authorization", "Bearer "}}).status, 401);
  EXPECT_EQ(get("/dashboard/api/state", {{"Authorization", "Bearer secret"}}).status, 200);
  EXPECT_EQ(get("/dashboard/api/nothing", {{"Authorization", "Bearer secret"}}).status, 404);
}

TEST_F(BoardTest, TellsWhatTheAgentOfTheProcessHolds) {
  serve("");
  EXPECT_EQ(get("/dashboard/api/controls").status, 404);
  hub_.setControls([] { return std::string(R"({"enforcement":"on"})"); });
  EXPECT_EQ(get("/dashboard/api/controls").body, R"({"enforcement":"on"})");
}

TEST_F(BoardTest, AsksTheAlmanacOfTheAgentOfTheProcess) {
  serve("");
  EXPECT_EQ(get("/dashboard/api/almanac?subject=node").status, 404);
  hub_.setAlmanac([](std::string_view target) -> Result<std::string> {
    if (target.find("subject=node") == target.npos) return invalid("no subject");
    return std::string("{}");
  });
  EXPECT_EQ(get("/dashboard/api/almanac?subject=node").body, "{}");
  EXPECT_EQ(get("/dashboard/api/almanac").status, 400);
}

TEST_F(BoardTest, AStreamBeginsWithWhatIsKnownAndGoesOnWithChanges) {
  serve("");
  hub_.nodes(R"([{"name":"a"}])");
  std::mutex mutex;
  std::condition_variable came;
  std::string text;
  net::HttpRequest request;
  request.target = "/dashboard/api/stream";
  net::StreamHandler handler;
  handler.onData = [&](std::string_view data) {
    std::lock_guard lock(mutex);
    text += data;
    came.notify_all();
  };
  auto stream = client_->open(request, std::move(handler));
  auto await = [&](std::string_view wanted) {
    std::unique_lock lock(mutex);
    return came.wait_for(lock, std::chrono::seconds(30),
                         [&] { return text.find(wanted) != std::string::npos; });
  };
  ASSERT_TRUE(await("event: nodes\ndata: [{\"name\":\"a\"}]\n\n")) << text;
  EXPECT_TRUE(await("event: decisions\ndata: []\n\n")) << text;
  hub_.nodes(R"([{"name":"b"}])");
  EXPECT_TRUE(await("event: nodes\ndata: [{\"name\":\"b\"}]\n\n")) << text;
  EXPECT_EQ(hub_.readers(), 1u);
}

agent::AuditRecord record(std::string why, std::string to) {
  agent::AuditRecord out;
  out.owner = "cpu-suppress";
  out.why = std::move(why);
  out.file = "cpu.cfs_quota_us";
  out.to = std::move(to);
  return out;
}

TEST(Hub, TellsEachDecisionOnceAndKeepsTheNewestFirst) {
  Hub hub("n1");
  agent::AuditLog audit;
  agent::Look look;
  audit.add(record("first", "50000"));
  hub.look(look, &audit);
  audit.add(record("second", "40000"));
  hub.look(look, &audit);
  hub.look(look, &audit);
  const auto state = json::parse(hub.state());
  ASSERT_TRUE(state);
  const auto& decisions = state->at("decisions").as_array();
  ASSERT_EQ(decisions.size(), 2u);
  EXPECT_EQ(decisions[0].at("why"), "second");
  EXPECT_EQ(decisions[1].at("to"), "50000");
}

TEST(ConfigPage, HasTheLintersFindings) {
  api::ConfigMap config;
  config.data["colocation-config"] = R"({"enable": true, "cpuReclaimThresholdPercent": "sixty"})";
  const auto page = configPage("koordinator-system/slo-controller-config", &config);
  EXPECT_EQ(page.at("keys").as_array().size(), 1u);
  ASSERT_FALSE(page.at("findings").as_array().empty());
  EXPECT_EQ(page.at("findings").at(0).at("severity"), "error");
  EXPECT_EQ(configPage("x", nullptr).at("exists"), false);
}

}  // namespace
}  // namespace mangrove::dashboard
