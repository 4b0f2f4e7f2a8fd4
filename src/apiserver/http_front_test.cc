// The door: who sends a body is asked first, one user's flood does not make another wait, and a watch
// comes over a WebSocket to whoever asks for it so.
#include "apiserver/http_front.h"

#include <gtest/gtest.h>

#include "apiserver/core/test_server.h"
#include "base/os/files.h"
#include "base/testing/wait.h"
#include "net/test_support.h"
#include "net/upgrade/web_socket_test_support.h"

namespace mangrove::apiserver {
namespace {

using net::testing::RawSocket;

class HttpFrontTest : public testing::ServerFixture {
 protected:
  void SetUp() override {
    ServerFixture::SetUp();
    server_->onPath("/note", [this](const Call& call, ResponderPtr to) {
      served_.push_back(call.who.user + call.body);
      to->answer(answer::json(200, "{}"));
    });
    auto identify = [](const net::HttpRequest& request, const RequestInfo&) -> Outcome<Identity> {
      const std::string who(request.headers.get("Who"));
      if (who.empty()) return refuse(answer::unauthorized());
      return Identity{who, "", {std::string(group::kMasters)}, {}};
    };
    FrontParts parts{owner_, *server_, identify};
    parts.refused = [](const net::HttpRequest& request, const RequestInfo&) {
      return Identity{std::string(request.headers.get("Really")), "", {}, {}};
    };
    auto audit = audit::AuditLog::open({folder_.file("log"), everything(), 1 << 20, 1}, clock_);
    ASSERT_TRUE(audit) << audit.error().text();
    audit_ = std::move(*audit);
    parts.audit = audit_.get();
    parts.maxInFlight = 4;
    auto front = HttpFront::listen(loop_, {}, std::move(parts));
    ASSERT_TRUE(front) << front.error().text();
    front_ = std::move(*front);
  }
  void TearDown() override {
    front_.reset();
    ServerFixture::TearDown();
  }

  static audit::Policy everything() {
    return *audit::readPolicy(
        "{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], "
        "rules: [{level: Metadata}]}",
        "p");
  }
  // Ends the log.
  std::string audited() {
    front_.reset();
    audit_.reset();
    return readFile(folder_.file("log")).value_or("");
  }

  RawSocket ask(const std::string& who, const std::string& target = "/note",
                const std::string& body = "") {
    auto socket = RawSocket::to(front_->port());
    socket.send(
        fmt::format("GET {} HTTP/1.1\r\nHost: a\r\nWho: {}\r\nContent-Length: {}\r\n"
                    "Connection: close\r\n\r\n{}",
                    target, who, body.size(), body));
    return socket;
  }
  // The opening of a WebSocket, answered while the owner runs on this thread.
  RawSocket knock(const std::string& target, const std::string& protocol = "") {
    auto socket = RawSocket::to(front_->port());
    socket.send(
        fmt::format("GET {} HTTP/1.1\r\nHost: a\r\nWho: me\r\nConnection: Upgrade\r\n"
                    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n{}"
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                    target, protocol));
    arrived(1);
    owner_.runOne(net::testing::kPatience);
    settle();
    return socket;
  }
  void createConfig(const std::string& name) {
    const auto made = ServerFixture::ask("POST", "/api/v1/namespaces/default/configmaps",
                                         R"({"metadata":{"name":")" + name + R"("}})");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  // Until the sockets' thread has handed over `count` requests; nothing is decided meanwhile. It
  // counts a request before it hands it over: once it does something else, it has done so.
  void arrived(size_t count) {
    const auto counted = [&] { return front_->https().front()->stats().requests == count; };
    ASSERT_TRUE(eventually(counted)) << "of " << count << " requests";
    std::promise<void> elsewhere;
    auto done = elsewhere.get_future();
    loop_.post([&] { elsewhere.set_value(); });
    net::testing::await(done);
  }

  // What comes as messages over a WebSocket until the server closes it.
  std::vector<std::string> spoken(const std::string& target, const std::string& protocol) {
    auto asked = std::async(std::launch::async, [&] {
      net::ClientOptions options;
      options.base = *net::Url::parse(fmt::format("http://127.0.0.1:{}", front_->port()));
      auto http = net::HttpClient::create(clients_, options);
      net::HttpRequest request = net::testing::openingRequest(target, protocol);
      request.headers.set("Who", "browser");
      auto upgraded = net::testing::WsTestClient::open(**http, std::move(request));
      std::vector<std::string> got;
      if (!upgraded || !upgraded->stream) return got;
      net::testing::WsTestClient client(std::move(upgraded->stream));
      for (auto frame = client.next(); frame && frame->opcode != net::WsOpcode::kClose;
           frame = client.next())
        got.push_back((frame->opcode == net::WsOpcode::kText ? "text " : "") + frame->payload);
      return got;
    });
    EXPECT_TRUE(runUntil(
        owner_, [&] { return asked.wait_for(Duration::zero()) == std::future_status::ready; }));
    return asked.get();
  }

  net::Loop loop_{1}, clients_{1};
  const TempFolder folder_ = TempFolder::inMemory("front-test");
  std::unique_ptr<audit::AuditLog> audit_;
  std::vector<std::string> served_;
  std::unique_ptr<HttpFront> front_;
};

TEST_F(HttpFrontTest, AFloodWaitsForItselfNotOthersForIt) {
  std::vector<RawSocket> sockets;
  for (int i = 0; i < 50; ++i) sockets.push_back(ask("flood"));
  arrived(50);
  auto polite = ask("polite");
  arrived(51);
  while (served_.size() < 51) owner_.runOne(net::testing::kPatience);
  const auto at = std::find(served_.begin(), served_.end(), "polite") - served_.begin();
  EXPECT_LE(at, 1) << "behind fifty that came before it: at most the one under way is waited for";
  EXPECT_TRUE(polite.receiveAll().starts_with("HTTP/1.1 200"));
}

TEST_F(HttpFrontTest, AFloodTakesNoSeatFromWhoHasFew) {
  const std::string pods = "/api/v1/namespaces/default/pods";
  std::vector<RawSocket> sockets;
  for (int i = 0; i < 8; ++i) sockets.push_back(ask("flood", pods));
  arrived(8);
  auto polite = ask("polite", pods);
  arrived(9);
  owner_.drain();
  EXPECT_TRUE(polite.receiveAll().starts_with("HTTP/1.1 200"));
  size_t refused = 0;
  for (auto& socket : sockets) refused += socket.receiveAll().starts_with("HTTP/1.1 429") ? 1 : 0;
  EXPECT_EQ(refused, 4u) << "four seats, eight requests at once";
}

TEST_F(HttpFrontTest, WhoIsNotKnownIsToldBeforeHeSendsHisBody) {
  auto stranger = RawSocket::to(front_->port());
  stranger.send("POST /note HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n{");
  owner_.runOne(net::testing::kPatience);
  EXPECT_TRUE(stranger.receiveUntil("Unauthorized").starts_with("HTTP/1.1 401"));

  auto known = RawSocket::to(front_->port());
  known.send("GET /note HTTP/1.1\r\nHost: a\r\nWho: me\r\nContent-Length: 2\r\n\r\n");
  owner_.runOne(net::testing::kPatience);
  known.send("{}");
  while (served_.empty()) owner_.runOne(net::testing::kPatience);
  EXPECT_EQ(served_.front(), "me{}");
}

TEST_F(HttpFrontTest, LongAnswersGoOverWebSocketsToo) {
  const auto answers = [](const char* type, std::string first, std::string rest) {
    return [=](const Call&, ResponderPtr to) {
      Answer head;
      head.contentType = type;
      head.body = first;
      auto out = to->stream(std::move(head));
      EXPECT_TRUE(out->write(rest));
    };
  };
  server_->onPath("/events", answers("application/json", "{\"a\":1}\n", "{\"b\":2}\n{\"c\":3}\n"));
  server_->onPath("/text", answers("text/plain", "", "one\ntwo\n"));
  using Messages = std::vector<std::string>;
  EXPECT_EQ(spoken("/events", ""),
            (Messages{"text {\"a\":1}\n", "text {\"b\":2}\n", "text {\"c\":3}\n"}));
  EXPECT_EQ(spoken("/text", ""), Messages{"one\ntwo\n"});
  EXPECT_EQ(spoken("/text", "binary.k8s.io"), Messages{"one\ntwo\n"});
  EXPECT_EQ(spoken("/text", "base64.binary.k8s.io"), Messages{"text b25lCnR3bwo="});
}

TEST_F(HttpFrontTest, WhatIsRefusedAtTheDoorIsInTheAuditLog) {
  auto stranger = RawSocket::to(front_->port());
  stranger.send("GET /note HTTP/1.1\r\nHost: a\r\nReally: eve\r\nConnection: close\r\n\r\n");
  arrived(1);
  owner_.runOne(net::testing::kPatience);
  EXPECT_TRUE(stranger.receiveAll().starts_with("HTTP/1.1 401"));
  const std::string log = audited();
  EXPECT_NE(log.find(R"("username":"eve")"), std::string::npos) << log;
  EXPECT_NE(log.find(R"("code":401)"), std::string::npos) << log;
}

const std::string kConfigs = "/api/v1/namespaces/default/configmaps?watch=true";

// A masked close frame; the server ends the connection when it has seen it.
void sayGoodbye(RawSocket& socket) {
  socket.send(std::string_view("\x88\x80\0\0\0\0", 6));
  socket.receiveAll();
}

// How many events of `bytes` are a text message of their own: opcode and two bytes of length before
// each.
size_t messages(const std::string& bytes) {
  size_t count = 0;
  for (size_t at = bytes.find(R"({"type":)"); at != bytes.npos;
       at = bytes.find(R"({"type":)", at + 1))
    count += bytes.compare(at - 4, 2, "\x81\x7e") == 0 ? 1 : 0;
  return count;
}

TEST_F(HttpFrontTest, AWatchOverAWebSocketIsOneTextMessageForEachEvent) {
  createConfig("first");
  createConfig("second");
  auto watcher = knock(kConfigs);
  std::string got = watcher.receiveUntil("\"second\"");
  EXPECT_TRUE(got.starts_with("HTTP/1.1 101")) << got;
  createConfig("third");
  got += watcher.receiveUntil("\"third\"");
  EXPECT_EQ(messages(got), 3u) << got;
  sayGoodbye(watcher);
}

TEST_F(HttpFrontTest, AWatcherWithAProtocolNobodyKnowsIsTold) {
  auto watcher = knock(kConfigs, "Sec-WebSocket-Protocol: smoke\r\n");
  const std::string got = watcher.receiveUntil("smoke");
  EXPECT_TRUE(got.starts_with("HTTP/1.1 400")) << got;
}

TEST_F(HttpFrontTest, OtherLongAnswersComeAsTheyAreWritten) {
  std::unique_ptr<AnswerStream> log;
  server_->onPath("/log", [&](const Call&, ResponderPtr to) {
    Answer head;
    head.contentType = "text/plain";
    log = to->stream(std::move(head));
    log->write("one\ntwo\n");
  });
  auto reader = knock("/log", "Sec-WebSocket-Protocol: binary.k8s.io\r\n");
  EXPECT_NE(reader.receiveUntil("two\n").find("\x82\x08one\ntwo\n"), std::string::npos);
  log.reset();
  EXPECT_NE(reader.receiveUntil("\x88").find('\x88'), std::string::npos) << "it says goodbye";
  sayGoodbye(reader);
}

}  // namespace
}  // namespace mangrove::apiserver
