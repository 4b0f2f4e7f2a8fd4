// Long answers from the client's side.
#include "net/client/http_client.h"
#include "net/io_thread.h"
#include "net/test_support.h"

namespace mangrove::net::testing {
namespace {

const std::string kChunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

bool ended(const StreamLog& log) {
  return log.ends > 0;
}

TEST(HttpStream, DeliversPiecesAndTheEnd) {
  Loop loop;
  Awaitable<std::shared_ptr<ResponseStream>> answer;
  auto server = serve(loop, {}, [&](std::shared_ptr<Exchange> exchange) {
    answer.change([&](auto& slot) { slot = exchange->stream({201, {}, "early "}); });
  });
  auto client = connect(loop, to(*server));
  Awaitable<StreamLog> log;
  auto stream = client->open({}, recordTo(log));
  ASSERT_TRUE(log.until([](auto& l) { return l.data == "early "; }));
  EXPECT_EQ(log.get().status, 201);
  answer.get()->write("event");
  ASSERT_TRUE(log.until([](auto& l) { return l.data == "early event"; }));
  answer.change([](auto& slot) { slot.reset(); });
  ASSERT_TRUE(log.until(ended));
  EXPECT_FALSE(log.get().error);
  EXPECT_EQ(client->call({"GET", "/", {}, "", {}}, {.timeout = 20ms}).error().code(),
            Code::kTimeout);
  EXPECT_EQ(server->stats().accepted, 1u) << "the stream's connection was used again";
  answer.change([](auto& slot) { slot.reset(); });
}

TEST(HttpStream, ErrorAnswersAreAnswers) {
  Loop loop;
  auto server = serve(loop, {}, [](std::shared_ptr<Exchange> exchange) {
    exchange->reply(HttpResponse::text(410, "too old"));
  });
  auto client = connect(loop, to(*server));
  Awaitable<StreamLog> log;
  auto stream = client->open({}, recordTo(log));
  ASSERT_TRUE(log.until(ended));
  EXPECT_EQ(log.get().status, 410);
  EXPECT_EQ(log.get().data, "too old");
  EXPECT_FALSE(log.get().error);
}

TEST(HttpStream, ReportsEveryWayToFail) {
  struct Row {
    const char* what;
    RawServer::Script script;
    Code code;
    const char* data;
  };
  Awaitable<bool> over;
  auto hold = [&] { EXPECT_TRUE(over.until([](bool value) { return value; })); };
  const Row rows[] = {
      {"cut",
       [](RawSocket& s, int) {
         s.receiveUntil("\r\n\r\n");
         s.send(kChunkedHead + "3\r\nabc\r\n5\r\nde");
       },
       Code::kUnavailable, "abcde"},
      {"reset",
       [](RawSocket& s, int) {
         s.receiveUntil("\r\n\r\n");
         s.resetOnClose();
       },
       Code::kUnavailable, ""},
      {"no head",
       [&](RawSocket& s, int) {
         s.receiveUntil("\r\n\r\n");
         hold();
       },
       Code::kTimeout, ""},
      {"half-open",
       [&](RawSocket& s, int) {
         s.receiveUntil("\r\n\r\n");
         s.send(kChunkedHead + "3\r\nabc\r\n");
         hold();
       },
       Code::kTimeout, "abc"},
      {"garbage",
       [](RawSocket& s, int) {
         s.receiveUntil("\r\n\r\n");
         s.send(kChunkedHead + "3\r\nabc\r\nxyz\r\n");
         s.receive();
       },
       Code::kInvalid, "abc"},
  };
  std::vector<std::unique_ptr<RawServer>> servers;
  for (const Row& row : rows) {
    servers.push_back(std::make_unique<RawServer>(row.script));
    Loop loop;
    auto client = connect(loop, to(*servers.back()));
    Awaitable<StreamLog> log;
    auto stream =
        client->open({}, recordTo(log), {.firstByteTimeout = 300ms, .idleTimeout = 100ms});
    ASSERT_TRUE(log.until(ended)) << row.what;
    ASSERT_TRUE(log.get().error) << row.what;
    EXPECT_EQ(log.get().error->code(), row.code) << row.what << log.get().error->text();
    EXPECT_EQ(log.get().data, row.data) << row.what;
  }
  over.change([](bool& value) { value = true; });
}

TEST(HttpStream, CancelWhileDataArrives) {
  Loop loop(2);
  std::atomic<bool> stop = false;
  std::mutex mutex;
  std::vector<std::thread> producers;
  auto server = serve(loop, {}, [&](std::shared_ptr<Exchange> exchange) {
    std::lock_guard lock(mutex);
    producers.emplace_back([&stop, stream = std::shared_ptr(exchange->stream({}))] {
      while (!stop && stream->write("data data data")) std::this_thread::yield();
    });
  });
  auto client = connect(loop, to(*server));
  for (int i = 0; i < 30; ++i) {
    auto alive = std::make_shared<std::atomic<bool>>(true);
    Awaitable<int> pieces;
    auto stream = client->open({}, {nullptr,
                                    [alive, &pieces](std::string_view) {
                                      EXPECT_TRUE(*alive) << "a callback after the destructor";
                                      pieces.change([](int& n) { ++n; });
                                    },
                                    [alive](Result<>) { EXPECT_TRUE(*alive); }});
    ASSERT_TRUE(pieces.until([](int n) { return n > 3; }));
    stream.reset();
    *alive = false;
  }
  stop = true;
  server->shutdown(0s);
  for (auto& producer : producers) producer.join();
}

TEST(HttpStream, MayBeDestroyedInItsOwnCallbacks) {
  for (int where = 0; where < 3; ++where) {
    Loop loop;
    auto server = serve(loop, {}, echo);
    auto client = connect(loop, to(*server));
    std::unique_ptr<HttpStream> stream;
    std::promise<void> done;
    std::atomic<int> after = 0;
    auto at = [&](int here) {
      if (here > where) ++after;
      if (here != where) return;
      stream.reset();
      done.set_value();
    };
    std::promise<void> ready;
    auto started = ready.get_future().share();
    stream = client->open({}, {[&, started](HttpResponse) {
                                 started.wait();
                                 at(0);
                               },
                               [&](std::string_view) { at(1); }, [&](Result<>) { at(2); }});
    ready.set_value();
    auto future = done.get_future();
    await(future);
    client.reset();
    EXPECT_EQ(after, 0) << where;
  }
}

TEST(HttpStream, PauseHoldsEverythingBack) {
  Loop loop(2);
  Awaitable<std::shared_ptr<ResponseStream>> answer;
  auto server = serve(loop, {}, [&](std::shared_ptr<Exchange> exchange) {
    answer.change([&](auto& slot) { slot = exchange->stream({}); });
  });
  auto client = connect(loop, to(*server));
  Awaitable<StreamLog> log;
  std::unique_ptr<HttpStream> stream;
  std::promise<void> assigned;
  auto handler = recordTo(log);
  handler.onData = [&, ready = assigned.get_future().share()](std::string_view data) {
    ready.wait();
    if (data.starts_with("stop")) stream->pause();
    log.change([&](StreamLog& l) { l.data += data; });
  };
  stream = client->open({}, std::move(handler));
  assigned.set_value();
  ASSERT_TRUE(answer.until([](auto& slot) { return slot != nullptr; }));
  answer.get()->write("stop");
  ASSERT_TRUE(log.until([](auto& l) { return l.data == "stop"; }));
  // Far more than the kernel buffers: the writer feels it.
  Awaitable<bool> drained;
  answer.get()->onDrained([&] { drained.change([](bool& value) { value = true; }); });
  std::string large(12 << 20, 'x');
  ASSERT_TRUE(answer.get()->write(large));
  answer.change([](auto& slot) { slot->close(); });
  EXPECT_EQ(log.get().data, "stop");
  EXPECT_EQ(log.get().ends, 0);
  stream->resume();
  ASSERT_TRUE(log.until(ended));
  EXPECT_EQ(log.get().data.size(), large.size() + 4);
  EXPECT_FALSE(log.get().error) << log.get().error->text();
  answer.change([](auto& slot) { slot.reset(); });
}

TEST(HttpStream, TheIdleTimeoutRestsWhilePaused) {
  Loop loop;
  auto server = serve(loop, {}, echo);
  auto client = connect(loop, to(*server));
  Awaitable<StreamLog> log;
  std::unique_ptr<HttpStream> stream;
  std::promise<void> assigned;
  auto handler = recordTo(log);
  handler.onHead = [&, ready = assigned.get_future().share()](HttpResponse head) {
    ready.wait();
    stream->pause();
    log.change([&](StreamLog& l) { l.status = head.status; });
  };
  stream = client->open({}, std::move(handler), {.idleTimeout = 200ms});
  assigned.set_value();
  ASSERT_TRUE(log.until([](auto& l) { return l.status == 200; }));
  // Longer than the timeout, measured by the same kind of timer.
  IoThread& io = loop.next();
  Awaitable<bool> later;
  std::optional<Deadline> timer;
  io.runAndWait([&] {
    timer.emplace(io, [&] { later.change([](bool& value) { value = true; }); });
    timer->in(500ms);
  });
  ASSERT_TRUE(later.until([](bool value) { return value; }));
  EXPECT_EQ(log.get().ends, 0);
  stream->resume();
  ASSERT_TRUE(log.until(ended));
  EXPECT_FALSE(log.get().error) << log.get().error->text();
  EXPECT_EQ(log.get().data, "GET / ");
  io.runAndWait([&] { timer.reset(); });
}

TEST(HttpStream, StreamsDoNotStarveCalls) {
  Loop loop;
  Awaitable<std::vector<std::shared_ptr<ResponseStream>>> open;
  auto server = serve(loop, {}, [&](std::shared_ptr<Exchange> exchange) {
    if (exchange->request().target == "/call") return echo(exchange);
    open.change([&](auto& all) { all.push_back(exchange->stream({})); });
  });
  auto options = to(*server);
  options.maxConnections = 1;
  options.maxStreams = 3;
  auto client = connect(loop, options);
  Awaitable<StreamLog> logs[4];
  std::vector<std::unique_ptr<HttpStream>> streams;
  for (auto& log : logs) streams.push_back(client->open({}, recordTo(log)));
  ASSERT_TRUE(open.until([](auto& all) { return all.size() == 3; }));
  EXPECT_TRUE(client->call({"GET", "/call", {}, "", {}}));
  ASSERT_TRUE(logs[3].until(ended));
  EXPECT_EQ(logs[3].get().error->code(), Code::kTooMany);
  open.change([](auto& all) { all.clear(); });
}

}  // namespace
}  // namespace mangrove::net::testing
