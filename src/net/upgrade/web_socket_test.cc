#include "net/upgrade/web_socket.h"

#include "net/upgrade/web_socket_test_support.h"

namespace mangrove::net::testing {
namespace {

TEST(WebSocketWire, AcceptKeyOfTheRfc) {
  EXPECT_EQ(wsAcceptKey("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocketWire, ReadsFramesByteByByte) {
  for (size_t size : {0u, 1u, 125u, 126u, 65535u, 65536u, 70000u}) {
    const std::string payload(size, 'x');
    FrameReader reader(100000);
    std::optional<WsFrame> frame;
    for (char c : maskedFrame(WsOpcode::kBinary, payload)) {
      ASSERT_FALSE(frame);
      reader.add({&c, 1});
      frame = reader.next();
    }
    ASSERT_TRUE(frame) << size;
    EXPECT_EQ(frame->payload, payload);
    EXPECT_EQ(reader.buffered(), 0u);
  }
}

TEST(WebSocketWire, RefusesWhatNoClientSends) {
  struct Row {
    std::string bytes;
    uint16_t code;
  } rows[] = {
      {wsFrame(WsOpcode::kText, "unmasked"), 1002},
      {std::string("\xc2\x80\0\0\0\0", 6), 1002},                      // a reserved bit
      {maskedFrame(static_cast<WsOpcode>(5), "a"), 1002},              // an unknown kind
      {maskedFrame(WsOpcode::kPing, std::string(126, 'p')), 1002},     // too long for control
      {maskedFrame(WsOpcode::kPing, "p", false), 1002},                // control in pieces
      {maskedFrame(WsOpcode::kBinary, std::string(1001, 'b')), 1009},  // over the limit
      {std::string("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10), 1009},
  };
  for (const auto& row : rows) {
    FrameReader reader(1000);
    reader.add(row.bytes);
    EXPECT_FALSE(reader.next());
    ASSERT_TRUE(reader.error()) << row.code;
    EXPECT_EQ(reader.error()->code, row.code) << reader.error()->sentence;
  }
}

TEST(WebSocketWire, HandshakeChoosesByTheServersOrder) {
  auto answer = wsHandshake(openingRequest("/", "v4, v5"), {"v5", "v4"});
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->headers.get("Sec-WebSocket-Protocol"), "v5");
  EXPECT_FALSE(wsHandshake(openingRequest("/", "v1"), {"v5", "v4"}));
  auto none = wsHandshake(openingRequest("/", ""), {"v5"});
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->headers.has("Sec-WebSocket-Protocol"));
  HttpRequest post = openingRequest("/", "v5");
  post.method = "POST";
  EXPECT_FALSE(wsHandshake(post, {"v5"}));
  HttpRequest keyless = openingRequest("/", "v5");
  keyless.headers.set("Sec-WebSocket-Key", "short");
  EXPECT_FALSE(wsHandshake(keyless, {"v5"}));
}

// A server that gives the socket of each request to the test.
struct SocketServer {
  explicit SocketServer(Loop& loop, WebSocketOptions options = {})
      : server(serve(loop, {}, [this, options](std::shared_ptr<Exchange> exchange) {
          auto head = wsHandshake(exchange->request(), {"p"});
          if (!head) return exchange->reply(HttpResponse::text(400, head.error().text()));
          exchange->upgrade(*head, [this, options](std::unique_ptr<ByteStream> stream) {
            opened.set_value(WebSocket::over(std::move(stream), "p", options));
          });
        })) {}
  std::promise<std::unique_ptr<WebSocket>> opened;
  std::unique_ptr<HttpServer> server;
};

class WebSocketTest : public ::testing::Test {
 protected:
  void open(WebSocketOptions options = {}) {
    server_ = std::make_unique<SocketServer>(*serverLoop_, options);
    http_ = connect(loop_, to(*server_->server));
    auto upgraded = WsTestClient::open(*http_, openingRequest("/", "p"));
    ASSERT_TRUE(upgraded) << upgraded.error().text();
    ASSERT_TRUE(upgraded->stream) << upgraded->response.status;
    client_.emplace(std::move(upgraded->stream));
    auto future = server_->opened.get_future();
    socket_ = await(future);
  }
  Result<std::optional<WsMessage>> read() {
    std::promise<Result<std::optional<WsMessage>>> done;
    socket_->read([&](auto got) { done.set_value(std::move(got)); });
    auto future = done.get_future();
    return await(future);
  }

  void endLoop() {
    server_.reset();
    serverLoop_.reset();
  }

  Loop loop_{1};
  std::unique_ptr<Loop> serverLoop_ = std::make_unique<Loop>(1);
  std::unique_ptr<SocketServer> server_;
  std::unique_ptr<HttpClient> http_;
  std::unique_ptr<WebSocket> socket_;
  std::optional<WsTestClient> client_;
};

TEST_F(WebSocketTest, CarriesMessagesAndAnswersPings) {
  open();
  client_->send(WsOpcode::kPing, "are you there");
  client_->sendRaw(maskedFrame(WsOpcode::kText, "in ", false) +
                   maskedFrame(WsOpcode::kPing, "between") +
                   maskedFrame(WsOpcode::kContinuation, "pieces"));
  auto got = read();
  ASSERT_TRUE(got && *got);
  EXPECT_EQ((*got)->data, "in pieces");
  EXPECT_TRUE((*got)->text);
  EXPECT_EQ(client_->next()->payload, "are you there");
  EXPECT_EQ(client_->next()->opcode, WsOpcode::kPong);
  EXPECT_TRUE(socket_->write(std::string(200000, 'y')));
  EXPECT_EQ(client_->next()->payload.size(), 200000u);
}

TEST_F(WebSocketTest, ClosesProperlyFromEitherSide) {
  open();
  client_->send(WsOpcode::kClose, wsCloseBody(1000, "bye"));
  auto got = read();
  ASSERT_TRUE(got);
  EXPECT_FALSE(*got);
  EXPECT_EQ(client_->next()->payload, wsCloseBody(1000, ""));
  EXPECT_FALSE(client_->next());
  EXPECT_FALSE(socket_->write("too late"));
}

TEST_F(WebSocketTest, DestroyingItSendsWhatIsQueuedAndCloses) {
  open();
  socket_->write("last words");
  socket_.reset();
  EXPECT_EQ(client_->next()->payload, "last words");
  auto close = client_->next();
  ASSERT_TRUE(close);
  EXPECT_EQ(close->opcode, WsOpcode::kClose);
  client_->send(WsOpcode::kClose, close->payload);
  EXPECT_FALSE(client_->next());
}

TEST_F(WebSocketTest, MalformedFramesEndTheConnection) {
  open();
  client_->sendRaw(wsFrame(WsOpcode::kBinary, "no mask"));
  auto got = read();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::kInvalid);
  EXPECT_EQ(client_->next()->payload.substr(0, 2), wsCloseBody(1002, ""));
}

TEST_F(WebSocketTest, PeerThatNeverReadsIsDropped) {
  open({.maxQueued = kMiB * 4});
  bool open = true;
  for (int i = 0; i < 4096 && open; ++i) open = socket_->write(std::string(64 * 1024, 'z'));
  EXPECT_FALSE(open);
}

TEST_F(WebSocketTest, SilentPeerCannotKeepAClosedConnection) {
  VirtualClock clock;
  open({.clock = &clock});
  socket_.reset();
  EXPECT_EQ(client_->next()->opcode, WsOpcode::kClose);
  clock.advance(6s);
  EXPECT_FALSE(client_->next());
}

TEST_F(WebSocketTest, ACloseThatNobodyAnswersMayOutliveTheLoop) {
  VirtualClock clock;
  open({.clock = &clock});
  socket_.reset();
  EXPECT_EQ(client_->next()->opcode, WsOpcode::kClose);
  endLoop();
  clock.advance(6s);
}

}  // namespace
}  // namespace mangrove::net::testing
