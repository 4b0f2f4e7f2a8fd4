// Long answers from the server's side.
#include "net/server/http_server.h"
#include "net/test_support.h"

namespace mangrove::net::testing {
namespace {

const std::string kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

// A server that keeps the stream of its last request for the test.
struct StreamServer {
  explicit StreamServer(ServerOptions options = {})
      : server(serve(loop, options, [this](std::shared_ptr<Exchange> exchange) {
          auto opened = exchange->stream({});
          opened->onClosed(
              [this](const Error& why) { closed.change([&](auto& slot) { slot = why; }); });
          opened->onDrained([this] { drained.change([](int& n) { ++n; }); });
          streams.change([&](auto& slot) { slot = std::move(opened); });
        })) {}

  ResponseStream& stream() {
    EXPECT_TRUE(streams.until([](auto& slot) { return slot != nullptr; }));
    ResponseStream* raw = nullptr;
    streams.change([&](auto& slot) { raw = slot.get(); });
    return *raw;
  }

  Loop loop{2};
  Awaitable<std::optional<Error>> closed;
  Awaitable<int> drained;
  Awaitable<std::shared_ptr<ResponseStream>> streams;
  std::unique_ptr<HttpServer> server;
};

TEST(ResponseStream, SendsChunksAndGoesOn) {
  StreamServer fixture;
  auto socket = RawSocket::to(fixture.server->port());
  socket.send(kGet);
  EXPECT_TRUE(fixture.stream().write("hello"));
  EXPECT_NE(socket.receiveUntil("5\r\nhello\r\n").find("Transfer-Encoding: chunked"),
            std::string::npos);
  fixture.stream().write("");
  EXPECT_TRUE(fixture.stream().write("world"));
  fixture.stream().close();
  EXPECT_FALSE(fixture.stream().write("late"));
  EXPECT_TRUE(socket.receiveUntil("0\r\n\r\n").ends_with("5\r\nworld\r\n0\r\n\r\n"));
  fixture.streams.change([](auto& slot) { slot.reset(); });
  socket.send(kGet);  // the connection is still good
  fixture.stream();
  EXPECT_EQ(fixture.server->stats().accepted, 1u);
  EXPECT_FALSE(fixture.closed.get());
}

TEST(ResponseStream, TellsWhenTheClientGoes) {
  for (bool reset : {false, true}) {
    StreamServer fixture;
    auto socket = RawSocket::to(fixture.server->port());
    socket.send(kGet);
    fixture.stream();
    socket.receive();
    if (reset) socket.resetOnClose();
    socket.close();
    ASSERT_TRUE(fixture.closed.until([](auto& why) { return why.has_value(); }));
    EXPECT_EQ(fixture.closed.get()->code(), Code::kCancelled);
    EXPECT_FALSE(fixture.stream().write("nobody reads"));
  }
}

TEST(ResponseStream, ClosesSlowReaders) {
  ServerOptions options;
  options.maxQueued = kMiB;
  StreamServer fixture(options);
  auto socket = RawSocket::to(fixture.server->port(), 4096);
  socket.send(kGet);
  const std::string piece(64 * 1024, 'x');
  size_t accepted = 0;
  while (fixture.stream().write(piece)) ASSERT_LT(accepted += piece.size(), 1u << 30);
  ASSERT_TRUE(fixture.closed.until([](auto& why) { return why.has_value(); }));
  EXPECT_EQ(fixture.closed.get()->code(), Code::kTooLarge);
  EXPECT_EQ(socket.receiveAll().find("0\r\n\r\n"), std::string::npos);  // not a proper end
}

TEST(ResponseStream, GivesUpOnReadersThatTakeNothing) {
  ServerOptions options;
  options.writeTimeout = 50ms;
  options.maxQueued = kMiB * 256;
  StreamServer fixture(options);
  auto socket = RawSocket::to(fixture.server->port(), 4096);
  socket.send(kGet);
  fixture.stream().write(std::string(32 << 20, 'x'));
  ASSERT_TRUE(fixture.closed.until([](auto& why) { return why.has_value(); }));
  EXPECT_EQ(fixture.closed.get()->code(), Code::kTimeout);
}

TEST(ResponseStream, TellsWhenTheQueueIsEmpty) {
  StreamServer fixture;
  auto socket = RawSocket::to(fixture.server->port());
  socket.send(kGet);
  std::string sent;
  for (int i = 0; i < 20; ++i) {
    int before = fixture.drained.get();
    fixture.stream().write(fmt::format("<{}>", i));
    ASSERT_TRUE(fixture.drained.until([&](int now) { return now > before; }));
  }
  EXPECT_EQ(fixture.stream().queuedBytes().v, 0);
  EXPECT_NE(socket.receiveUntil("<19>").find("<0>"), std::string::npos);
}

TEST(ResponseStream, DestroyingItEndsTheAnswer) {
  StreamServer fixture;
  auto socket = RawSocket::to(fixture.server->port());
  socket.send(kGet);
  fixture.stream().write("bye");
  fixture.streams.change([](auto& slot) { slot.reset(); });
  EXPECT_TRUE(socket.receiveUntil("0\r\n\r\n").ends_with("3\r\nbye\r\n0\r\n\r\n"));
}

TEST(ResponseStream, ShutdownEndsStreamsProperly) {
  StreamServer fixture;
  auto socket = RawSocket::to(fixture.server->port());
  socket.send(kGet);
  fixture.stream().write("last words");
  std::thread stopping([&] { fixture.server->shutdown(kPatience); });
  EXPECT_TRUE(socket.receiveAll().ends_with("last words\r\n0\r\n\r\n"));
  socket.close();
  stopping.join();
  ASSERT_TRUE(fixture.closed.until([](auto& why) { return why.has_value(); }));
  EXPECT_EQ(fixture.closed.get()->code(), Code::kUnavailable);
  EXPECT_FALSE(fixture.stream().write("after"));
}

TEST(ResponseStream, ManyWritersKeepTheirOrder) {
  StreamServer fixture;
  auto socket = RawSocket::to(fixture.server->port());
  socket.send(kGet);
  ResponseStream& stream = fixture.stream();
  std::vector<std::thread> writers;
  for (char who : {'a', 'b', 'c', 'd'})
    writers.emplace_back([&stream, who] {
      for (int i = 0; i < 200; ++i) EXPECT_TRUE(stream.write(fmt::format("{}{:03};", who, i)));
    });
  for (auto& writer : writers) writer.join();
  stream.close();
  std::string all = socket.receiveUntil("\r\n0\r\n\r\n");
  for (char who : {'a', 'b', 'c', 'd'}) {
    size_t at = 0;
    for (int i = 0; i < 200; ++i) {
      at = all.find(fmt::format("{}{:03};", who, i), at);
      // A chunk border never falls into a write.
      ASSERT_NE(at, all.npos) << who << i;
    }
  }
}

}  // namespace
}  // namespace mangrove::net::testing
