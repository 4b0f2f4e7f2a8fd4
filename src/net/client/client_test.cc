#include "base/os/log.h"
#include "net/client/http_client.h"
#include "net/test_support.h"

namespace mangrove::net::testing {
namespace {

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

HttpRequest post(std::string body = "x") {
  return {"POST", "/p", {}, std::move(body), {}};
}

TEST(HttpClient, CallsAndReusesItsConnection) {
  Loop loop;
  auto server = serve(loop, {}, echo);
  auto client = connect(loop, to(*server));
  for (int i = 0; i < 20; ++i) {
    auto answer = client->call({"PUT", fmt::format("/{}", i), {}, "body", {}});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, fmt::format("PUT /{} body", i));
  }
  EXPECT_EQ(server->stats().accepted, 1u);
  EXPECT_EQ(client->stats().connectionsOpened, 1u);
  EXPECT_EQ(client->stats().idle, 1u);
}

TEST(HttpClient, ServesManyAtOnce) {
  Loop loop(2);
  auto server = serve(loop, {}, echo);
  auto options = to(*server);
  options.maxConnections = 8;
  auto client = connect(loop, options);
  Awaitable<std::vector<std::string>> answers;
  for (int i = 0; i < 200; ++i)
    client->send({"GET", fmt::format("/{}", i), {}, "", {}}, {}, [&](Result<HttpResponse> answer) {
      answers.change(
          [&](auto& all) { all.push_back(answer ? answer->body : answer.error().text()); });
    });
  ASSERT_TRUE(answers.until([](auto& all) { return all.size() == 200; }));
  auto all = answers.get();
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
  EXPECT_LE(server->stats().accepted, 8u);
  EXPECT_EQ(server->stats().requests, 200u);
}

TEST(HttpClient, HandlesHeadAndEmptyAnswers) {
  Loop loop;
  auto server = serve(loop, {}, [](std::shared_ptr<Exchange> exchange) {
    bool gone = exchange->request().method == "DELETE";
    exchange->reply(gone ? HttpResponse{204, {}, ""} : HttpResponse::text(200, "12345"));
  });
  auto client = connect(loop, to(*server));
  auto head = client->call({"HEAD", "/", {}, "", {}});
  ASSERT_TRUE(head) << head.error().text();
  EXPECT_EQ(head->headers.get("Content-Length"), "5");
  EXPECT_EQ(head->body, "");
  auto deleted = client->call({"DELETE", "/", {}, "", {}});
  ASSERT_TRUE(deleted) << deleted.error().text();
  EXPECT_EQ(deleted->status, 204);
  EXPECT_EQ(client->call({})->body, "12345");
  EXPECT_EQ(server->stats().accepted, 1u);
}

TEST(HttpClient, CarriesLargeBodiesBothWays) {
  Loop loop(2);
  ServerOptions serverOptions;
  serverOptions.maxBody = kMiB * 64;
  auto server = serve(loop, serverOptions, [](std::shared_ptr<Exchange> exchange) {
    exchange->reply(HttpResponse::text(200, exchange->request().body));
  });
  auto client = connect(loop, to(*server));
  std::string body(20 << 20, 'x');
  for (size_t i = 0; i < body.size(); i += 4096) body[i] = static_cast<char>('a' + i / 4096 % 26);
  auto answer = client->call(post(body));
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_TRUE(answer->body == body);
}

TEST(HttpClient, ReadsInterimAnswersAndOldServers) {
  RawServer server([](RawSocket& socket, int) {
    socket.receiveUntil("\r\n\r\n");
    socket.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
    socket.send("HTTP/1.1 200 OK\r\n\r\nuntil the end");
  });
  Loop loop;
  auto client = connect(loop, to(server));
  for (int i = 0; i < 2; ++i) {
    auto answer = client->call({});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->body, "until the end");
  }
  EXPECT_EQ(server.connections(), 2);
}

TEST(HttpClient, RefusesWhatCannotBeSent) {
  Loop loop;
  auto server = serve(loop, {}, echo);
  auto client = connect(loop, to(*server));
  auto answer = client->call({"GET", "/", {{"Authorization", "Bearer token\n"}}, "", {}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Code::kInvalid);
  EXPECT_FALSE(mayHaveBeenSent(answer.error()));
  EXPECT_NE(answer.error().text().find("Authorization"), std::string::npos);
  EXPECT_FALSE(client->call({"GET", "/a b", {}, "", {}}));
  EXPECT_EQ(server->stats().requests, 0u);
}

TEST(HttpClient, NamesAServerThatIsNotThere) {
  Loop loop;
  uint16_t port = 0;
  { port = serve(loop, {}, echo)->port(); }
  ClientOptions options;
  options.base = *Url::parse(fmt::format("http://127.0.0.1:{}", port));
  auto client = connect(loop, options);
  auto answer = client->call(post());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Code::kUnavailable);
  EXPECT_FALSE(mayHaveBeenSent(answer.error()));
  EXPECT_EQ(
      answer.error().text(),
      fmt::format("POST 127.0.0.1:{0}/p: connecting to 127.0.0.1:{0}: Connection refused", port));
}

TEST(HttpClient, LooksNamesUp) {
  Loop loop;
  auto server = serve(loop, {}, echo);
  ClientOptions options;
  options.base = *Url::parse(fmt::format("http://localhost:{}", server->port()));
  auto answer = connect(loop, options)->call({});
  ASSERT_TRUE(answer) << answer.error().text();
  options.base = *Url::parse("http://no-such-host.invalid:80");
  auto failed = connect(loop, options)->call({});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().text().find("no-such-host.invalid"), std::string::npos);
  EXPECT_FALSE(mayHaveBeenSent(failed.error()));
}

TEST(HttpClient, TimesOutAndSaysWhatWasSent) {
  Awaitable<bool> over;
  RawServer server([&](RawSocket& socket, int) {
    socket.receiveUntil("\r\n\r\n");
    EXPECT_TRUE(over.until([](bool value) { return value; }));
  });
  Loop loop;
  auto options = to(server);
  options.maxConnections = 1;
  auto client = connect(loop, options);
  std::promise<Result<HttpResponse>> queued;
  auto first =
      std::async(std::launch::async, [&] { return client->call(post(), {.timeout = 200ms}); });
  while (server.connections() == 0) std::this_thread::yield();
  client->send(post(), {.timeout = 20ms},
               [&](auto answer) { queued.set_value(std::move(answer)); });
  auto future = queued.get_future();
  auto waiting = await(future);
  ASSERT_FALSE(waiting);
  EXPECT_EQ(waiting.error().code(), Code::kTimeout);
  EXPECT_FALSE(mayHaveBeenSent(waiting.error())) << "it only waited for a connection";
  auto sent = await(first);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code(), Code::kTimeout);
  EXPECT_TRUE(mayHaveBeenSent(sent.error()));
  EXPECT_NE(sent.error().text().find("200ms"), std::string::npos) << sent.error().text();
  over.change([](bool& value) { value = true; });
}

TEST(HttpClient, BoundsTheQueue) {
  Loop loop;
  Awaitable<std::vector<std::shared_ptr<Exchange>>> held;
  auto server = serve(loop, {}, [&](std::shared_ptr<Exchange> exchange) {
    held.change([&](auto& all) { all.push_back(exchange); });
  });
  auto options = to(*server);
  options.maxConnections = 1;
  options.maxWaiting = 1;
  auto client = connect(loop, options);
  Awaitable<std::vector<Result<HttpResponse>>> answers;
  for (int i = 0; i < 3; ++i)
    client->send({}, {}, [&](auto answer) {
      answers.change([&](auto& all) { all.push_back(std::move(answer)); });
    });
  ASSERT_TRUE(answers.until([](auto& all) { return all.size() == 1; }));
  EXPECT_EQ(answers.get()[0].error().code(), Code::kTooMany);
  EXPECT_FALSE(mayHaveBeenSent(answers.get()[0].error()));
  for (size_t i = 1; i <= 2; ++i) {
    ASSERT_TRUE(held.until([&](auto& all) { return all.size() == i; }));
    held.get().back()->reply(HttpResponse::text(200, ""));
  }
  ASSERT_TRUE(answers.until([](auto& all) { return all.size() == 3; }));
  held.change([](auto& all) { all.clear(); });
}

TEST(HttpClient, LimitsAnswers) {
  RawServer server([](RawSocket& socket, int number) {
    socket.receiveUntil("\r\n\r\n");
    if (number == 0) socket.send("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n");
    if (number == 1) socket.send("HTTP/1.1 200 OK\r\n\r\n" + std::string(1001, 'x'));
    if (number == 2) socket.send("HTTP/1.1 200 OK\r\nX: " + std::string(70000, 'x') + "\r\n\r\n");
    if (number == 3) socket.send("SSH-2.0-OpenSSH\r\n\r\n");
    socket.receive();
  });
  Loop loop;
  auto options = to(server);
  options.maxBody = Bytes{1000};
  options.maxHeader = Bytes{60000};
  auto client = connect(loop, options);
  for (Code code : {Code::kTooLarge, Code::kTooLarge, Code::kTooLarge, Code::kInvalid}) {
    auto answer = client->call({});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), code) << answer.error().text();
  }
}

TEST(HttpClient, ReportsCutAnswers) {
  RawServer server([](RawSocket& socket, int) {
    socket.receiveUntil("\r\n\r\n");
    socket.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  });
  Loop loop;
  auto client = connect(loop, to(server));
  auto answer = client->call({});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Code::kUnavailable);
  EXPECT_TRUE(mayHaveBeenSent(answer.error()));
  EXPECT_EQ(client->stats().replayed, 0u) << "an answer had begun";
}

// The server answers once and closes on the second request, as one that restarts does.
TEST(HttpClient, RepeatsOnlySafeRequestsOnStaleConnections) {
  struct Row {
    HttpRequest request;
    SendOptions options;
    bool repeated;
  };
  const Row rows[] = {
      {{}, {}, true},
      {{}, {.replay = Replay::kNever}, false},
      {post(), {}, false},
      {post(), {.replay = Replay::kAlways}, true},
      {{"DELETE", "/", {}, "", {}}, {}, false},
  };
  for (const Row& row : rows) {
    RawServer server([](RawSocket& socket, int number) {
      socket.receiveUntil("\r\n\r\n");
      socket.send(kOk);
      if (number > 0) return;
      socket.receiveUntil("\r\n\r\n");  // and no answer
    });
    Loop loop;
    auto client = connect(loop, to(server));
    ASSERT_TRUE(client->call({}));
    auto answer = client->call(row.request, row.options);
    EXPECT_EQ(answer.has_value(), row.repeated) << row.request.method;
    EXPECT_EQ(client->stats().replayed, row.repeated ? 1u : 0u);
    if (answer) continue;
    EXPECT_EQ(answer.error().code(), Code::kUnavailable);
    EXPECT_TRUE(mayHaveBeenSent(answer.error()));
  }
}

TEST(HttpClient, NeverRepeatsOnFreshConnections) {
  RawServer server([](RawSocket& socket, int) { socket.receiveUntil("\r\n\r\n"); });
  Loop loop;
  auto client = connect(loop, to(server));
  auto answer = client->call({});
  ASSERT_FALSE(answer);
  EXPECT_TRUE(mayHaveBeenSent(answer.error()));
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClient, LeavesConnectionsTheServerClosed) {
  RawServer server([](RawSocket& socket, int) {
    socket.receiveUntil("\r\n\r\n");
    socket.send(kOk);  // and closes, without having said so
  });
  Loop loop;
  auto client = connect(loop, to(server));
  for (int i = 0; i < 20; ++i) {
    auto answer = client->call(post());
    ASSERT_TRUE(answer) << answer.error().text();
    while (client->stats().idle > 0) std::this_thread::yield();  // until the end is noticed
  }
  EXPECT_EQ(server.connections(), 20);
}

TEST(HttpClient, KeepsIdleConnectionsWithinBounds) {
  Loop loop;
  Awaitable<std::vector<std::shared_ptr<Exchange>>> held;
  auto server = serve(loop, {}, [&](std::shared_ptr<Exchange> exchange) {
    held.change([&](auto& all) { all.push_back(exchange); });
  });
  auto options = to(*server);
  options.maxIdle = 2;
  options.idleTimeout = 100ms;
  auto client = connect(loop, options);
  Awaitable<int> answers;
  for (int i = 0; i < 5; ++i)
    client->send({}, {}, [&](auto) { answers.change([](int& n) { ++n; }); });
  ASSERT_TRUE(held.until([](auto& all) { return all.size() == 5; }));
  for (auto& exchange : held.get()) exchange->reply({});
  ASSERT_TRUE(answers.until([](int n) { return n == 5; }));
  EXPECT_LE(client->stats().idle, 2u);
  while (server->stats().open > 0) std::this_thread::yield();  // the idle timeout
  held.change([](auto& all) { all.clear(); });
}

TEST(HttpClient, TakesAnEarlyRefusalOfALargeUpload) {
  Loop loop;
  ServerOptions serverOptions;
  serverOptions.maxBody = kKiB;
  auto server = serve(loop, serverOptions, echo);
  auto client = connect(loop, to(*server));
  auto answer = client->call(post(std::string(200'000, 'x')));
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->status, 413);
}

TEST(HttpClient, DestroyingItEndsWhatIsPending) {
  LogCapture quiet;  // the server's exchanges are dropped on purpose
  Loop loop(2);
  Awaitable<std::vector<std::shared_ptr<Exchange>>> held;
  auto server = serve(loop, {}, [&](std::shared_ptr<Exchange> exchange) {
    held.change([&](auto& all) { all.push_back(exchange); });
  });
  auto options = to(*server);
  options.maxConnections = 2;
  auto client = connect(loop, options);
  std::vector<Code> codes;  // only the client's thread writes, and we read after its end
  Awaitable<StreamLog> log;
  for (int i = 0; i < 5; ++i)
    client->send({}, {}, [&](auto answer) { codes.push_back(answer.error().code()); });
  auto stream = client->open({}, recordTo(log));
  ASSERT_TRUE(held.until([](auto& all) { return all.size() == 3; }));
  client.reset();
  EXPECT_EQ(codes, std::vector<Code>(5, Code::kCancelled));
  EXPECT_EQ(log.get().ends, 1);
  held.change([](auto& all) { all.clear(); });
}

TEST(HttpClient, MayBeDestroyedInACallback) {
  Loop loop;
  auto server = serve(loop, {}, echo);
  auto client = connect(loop, to(*server));
  std::promise<void> done;
  HttpClient* raw = client.get();
  raw->send({}, {}, [&](auto answer) {
    EXPECT_TRUE(answer);
    client.reset();
    done.set_value();
  });
  auto future = done.get_future();
  await(future);
}

}  // namespace
}  // namespace mangrove::net::testing
