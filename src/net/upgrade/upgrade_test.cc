// The connection after HTTP, both sides, plain and TLS, with a protocol that echoes.
#include "net/test_support.h"
#include "net/upgrade/byte_stream.h"

namespace mangrove::net::testing {
namespace {

struct Echo : std::enable_shared_from_this<Echo> {
  std::unique_ptr<ByteStream> stream;
  void next() {
    stream->read([self = shared_from_this()](Result<std::string> got) {
      if (!got || got->empty()) return self->stream->finish();
      self->stream->write("<" + *got + ">", {});
      self->next();
    });
  }
};

// Keeps the echoes until the test is over; each refers to itself while it reads.
struct EchoServer {
  EchoServer(Loop& loop, ServerOptions options)
      : server(serve(loop, options, [this](std::shared_ptr<Exchange> exchange) {
          if (!exchange->request().headers.hasToken("Connection", "upgrade"))
            return exchange->reply(HttpResponse::text(426, "upgrade, please"));
          exchange->upgrade({101, {{"Connection", "Upgrade"}, {"Upgrade", "echo"}}, ""},
                            [this](std::unique_ptr<ByteStream> stream) {
                              if (!stream) return;
                              auto echo = std::make_shared<Echo>();
                              echo->stream = std::move(stream);
                              echo->next();
                              echoes.change([&](auto& all) { all.push_back(echo); });
                            });
        })) {}
  ~EchoServer() {
    for (auto& echo : echoes.get()) echo->stream.reset();
  }
  Awaitable<std::vector<std::shared_ptr<Echo>>> echoes;
  std::unique_ptr<HttpServer> server;
};

HttpRequest upgradeRequest() {
  return {"GET", "/exec", {{"Connection", "Upgrade"}, {"Upgrade", "echo"}}, "", {}};
}

Result<Upgraded> upgraded(HttpClient& client, HttpRequest request) {
  std::promise<Result<Upgraded>> done;
  client.upgrade(std::move(request), {}, [&](auto result) { done.set_value(std::move(result)); });
  auto future = done.get_future();
  return await(future);
}

std::string readOnce(ByteStream& stream) {
  std::promise<std::string> done;
  stream.read([&](Result<std::string> got) { done.set_value(got ? *got : got.error().text()); });
  auto future = done.get_future();
  return await(future);
}

class UpgradeTest : public ::testing::TestWithParam<bool> {
 protected:
  ServerOptions serverOptions() {
    ServerOptions options;
    if (GetParam()) options.tls = tlsOf(keys_.local());
    return options;
  }
  ClientOptions clientOptions(const HttpServer& server) {
    ClientOptions options = to(server);
    options.tls.caPem = keys_.ca.certPem;
    return options;
  }
  Keys keys_;
};

TEST_P(UpgradeTest, CarriesBytesBothWays) {
  Loop loop(2);
  EchoServer echo(loop, serverOptions());
  auto client = connect(loop, clientOptions(*echo.server));
  auto result = upgraded(*client, upgradeRequest());
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->response.status, 101);
  EXPECT_EQ(result->response.headers.get("Upgrade"), "echo");
  ASSERT_TRUE(result->stream);
  for (int i = 0; i < 5; ++i) {
    std::promise<bool> written;
    result->stream->write("ping", [&](Result<> done) { written.set_value(done.has_value()); });
    EXPECT_EQ(readOnce(*result->stream), "<ping>");
    auto future = written.get_future();
    EXPECT_TRUE(await(future));
  }
  result->stream->finish();
  EXPECT_EQ(readOnce(*result->stream), "");
  EXPECT_EQ(client->stats().active, 0u);
}

TEST_P(UpgradeTest, RefusalsKeepTheirBody) {
  Loop loop;
  EchoServer echo(loop, serverOptions());
  auto client = connect(loop, clientOptions(*echo.server));
  auto result = upgraded(*client, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->response.status, 426);
  EXPECT_EQ(result->response.body, "upgrade, please");
  EXPECT_FALSE(result->stream);
}

TEST_P(UpgradeTest, DestroyingTheStreamEndsItsReads) {
  Loop loop(2);
  EchoServer echo(loop, serverOptions());
  auto client = connect(loop, clientOptions(*echo.server));
  auto result = upgraded(*client, upgradeRequest());
  ASSERT_TRUE(result) << result.error().text();
  auto called = std::make_shared<std::atomic<int>>(0);
  result->stream->read([called](Result<std::string>) { ++*called; });
  result->stream.reset();
  int before = *called;
  client.reset();
  EXPECT_EQ(*called, before);
}

TEST_P(UpgradeTest, CloseCancelsWhatIsPending) {
  Loop loop;
  EchoServer echo(loop, serverOptions());
  auto client = connect(loop, clientOptions(*echo.server));
  auto result = upgraded(*client, upgradeRequest());
  ASSERT_TRUE(result) << result.error().text();
  std::promise<Code> done;
  result->stream->read([&](Result<std::string> got) { done.set_value(got.error().code()); });
  result->stream->close();
  auto future = done.get_future();
  EXPECT_EQ(await(future), Code::kCancelled);
  std::promise<Code> late;
  result->stream->write("x", [&](Result<> ended) { late.set_value(ended.error().code()); });
  auto lateFuture = late.get_future();
  EXPECT_EQ(await(lateFuture), Code::kCancelled);
}

TEST_P(UpgradeTest, CountsThoseThatLeftAndRefusesMore) {
  Loop loop(1);  // in order: the place is given back before the next request is read
  ServerOptions options = serverOptions();
  options.maxUpgraded = 1;
  EchoServer echo(loop, options);
  auto client = connect(loop, clientOptions(*echo.server));
  {
    auto first = upgraded(*client, upgradeRequest());
    ASSERT_TRUE(first) << first.error().text();
    EXPECT_EQ(echo.server->stats().upgraded, 1u);
    auto second = upgraded(*client, upgradeRequest());
    EXPECT_TRUE(!second || second->response.status == 503);
    first->stream->write("bye", {});
    EXPECT_EQ(readOnce(*first->stream), "<bye>");
  }
  // The client has closed, so the echo ends and gives its place back.
  ASSERT_TRUE(echo.echoes.until([](auto& all) { return !all.empty(); }));
  echo.echoes.change([](auto& all) { all.front()->stream.reset(); });
  auto third = upgraded(*client, upgradeRequest());
  ASSERT_TRUE(third) << third.error().text();
  EXPECT_EQ(third->response.status, 101);
}

TEST_P(UpgradeTest, EndsWhatIsIdle) {
  Loop loop(2);
  ServerOptions options = serverOptions();
  options.upgradedIdle = 50ms;
  EchoServer echo(loop, options);
  auto client = connect(loop, clientOptions(*echo.server));
  auto result = upgraded(*client, upgradeRequest());
  ASSERT_TRUE(result) << result.error().text();
  const std::string end = readOnce(*result->stream);
  EXPECT_EQ(end.find('<'), end.npos) << "nothing was said, so the end must have come: " << end;
}

INSTANTIATE_TEST_SUITE_P(Transports, UpgradeTest, ::testing::Bool(),
                         [](const auto& row) { return row.param ? "Tls" : "Plain"; });

TEST(Upgrade, PassesOnBytesThatCameWithTheRequest) {
  Loop loop;
  EchoServer echo(loop, {});
  auto socket = RawSocket::to(echo.server->port());
  socket.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly");
  EXPECT_TRUE(socket.receiveUntil("<early>").ends_with("\r\n\r\n<early>"));
}

TEST(Upgrade, UnaskedSwitchIsRefused) {
  RawServer server([](RawSocket& socket, int) {
    socket.receiveUntil("\r\n\r\n");
    socket.send("HTTP/1.1 101 Switching Protocols\r\n\r\n");
    socket.receive();
  });
  Loop loop;
  auto answer = connect(loop, to(server))->call({});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Code::kInvalid);
}

}  // namespace
}  // namespace mangrove::net::testing
