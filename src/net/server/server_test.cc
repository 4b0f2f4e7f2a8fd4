// The server seen by a raw socket: what a strange client may do to it.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/os/log.h"
#include "net/server/http_server.h"
#include "net/test_support.h"

namespace mangrove::net::testing {
namespace {

const std::string kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string kGetClose = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

int statusOf(const std::string& answer) {
  return answer.size() > 12 ? std::atoi(answer.c_str() + 9) : 0;
}

TEST(HttpServer, AnswersOneRequestAndCloses) {
  Loop loop;
  auto server = serve(loop, {}, echo);
  auto socket = RawSocket::to(server->port());
  socket.send(kGetClose);
  std::string answer = socket.receiveAll();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\nDate: ")) << answer;
  EXPECT_NE(answer.find("Content-Length: 7\r\n"), answer.npos) << answer;
  EXPECT_NE(answer.find("Connection: close\r\n"), answer.npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nGET /x ")) << answer;
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  Loop loop(2);
  // The first answers come last, from other threads.
  std::mutex mutex;
  std::vector<std::thread> threads;
  auto server = serve(loop, {}, [&](std::shared_ptr<Exchange> exchange) {
    std::lock_guard lock(mutex);
    threads.emplace_back([exchange] { echo(exchange); });
  });
  auto socket = RawSocket::to(server->port());
  std::string all;
  for (int i = 0; i < 50; ++i) all += fmt::format("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", i);
  socket.send(all + kGetClose);
  std::string answers = socket.receiveAll();
  size_t at = 0;
  for (int i = 0; i < 50; ++i) {
    at = answers.find(fmt::format("GET /{} ", i), at);
    ASSERT_NE(at, answers.npos) << i;
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(server->stats().requests, 51u);
  EXPECT_EQ(server->stats().accepted, 1u);
}

TEST(HttpServer, ReadsChunkedRequests) {
  Loop loop;
  auto server = serve(loop, {}, echo);
  auto socket = RawSocket::to(server->port());
  socket.send(
      "POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
  socket.send("3\r\nabc\r\n");
  socket.send("2\r\nde\r\n0\r\n\r\n");
  EXPECT_TRUE(socket.receiveAll().ends_with("POST /x abcde"));
}

TEST(HttpServer, HeadHasNoBodyButItsLength) {
  Loop loop;
  auto server = serve(loop, {}, echo);
  auto socket = RawSocket::to(server->port());
  socket.send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n" + kGetClose);
  std::string answer = socket.receiveAll();
  EXPECT_NE(answer.find("Content-Length: 8\r\n\r\nHTTP/1.1 200"), answer.npos) << answer;
}

TEST(HttpServer, SaysContinueWhenAsked) {
  Loop loop;
  auto server = serve(loop, {}, echo);
  auto socket = RawSocket::to(server->port());
  socket.send(
      "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n"
      "Content-Length: 2\r\n\r\n");
  EXPECT_EQ(socket.receiveUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.send("ab");
  EXPECT_TRUE(socket.receiveAll().ends_with("POST / ab"));
}

TEST(HttpServer, SpeaksToOldClients) {
  Loop loop;
  auto server = serve(loop, {}, [](std::shared_ptr<Exchange> exchange) {
    auto stream = exchange->stream({});
    stream->write("until the end");
  });
  auto socket = RawSocket::to(server->port());
  socket.send("GET /x HTTP/1.0\r\n\r\n");
  std::string answer = socket.receiveAll();
  EXPECT_EQ(answer.find("chunked"), answer.npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nuntil the end")) << answer;
}

TEST(HttpServer, AnswersAfterTheClientStoppedSending) {
  Loop loop;
  auto server = serve(loop, {}, echo);
  auto socket = RawSocket::to(server->port());
  socket.send(kGet);
  socket.finishWriting();
  EXPECT_TRUE(socket.receiveAll().ends_with("GET /x "));
}

TEST(HttpServer, DroppedExchangeIsAnError) {
  LogCapture quiet;
  Loop loop;
  auto server = serve(loop, {}, [](std::shared_ptr<Exchange>) {});
  auto socket = RawSocket::to(server->port());
  socket.send(kGetClose);
  EXPECT_EQ(statusOf(socket.receiveAll()), 500);
}

TEST(HttpServer, OnlyTheFirstAnswerCounts) {
  Loop loop;
  auto server = serve(loop, {}, [](std::shared_ptr<Exchange> exchange) {
    exchange->reply(HttpResponse::text(201, "first"));
    exchange->reply(HttpResponse::text(202, "second"));
    EXPECT_FALSE(exchange->stream({})->write("third"));
    exchange->upgrade({}, [](std::unique_ptr<ByteStream> stream) { EXPECT_FALSE(stream); });
  });
  auto socket = RawSocket::to(server->port());
  socket.send(kGetClose);
  EXPECT_TRUE(socket.receiveAll().ends_with("\r\n\r\nfirst"));
}

TEST(HttpServer, RefusesMalformedRequestsAndCloses) {
  Loop loop;
  std::atomic<int> handled = 0;
  ServerOptions options;
  options.maxHeader = Bytes{1000};
  options.maxTarget = Bytes{100};
  options.maxBody = Bytes{50};
  auto server = serve(loop, options, [&](std::shared_ptr<Exchange> exchange) {
    ++handled;
    echo(exchange);
  });
  struct Row {
    std::string text;
    int status;
  };
  const Row rows[] = {
      {"nonsense\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
       400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 51\r\n\r\n" + std::string(51, 'x'), 413},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n",
       413},
      {"GET /" + std::string(200, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(9000, 'x') + "\r\n\r\n", 431},
      {"GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n", 417},
  };
  for (const Row& row : rows) {
    auto socket = RawSocket::to(server->port());
    socket.send(row.text + kGet);  // what follows must not be taken for a request
    std::string answer = socket.receiveAll();
    EXPECT_EQ(statusOf(answer), row.status) << row.text.substr(0, 100);
    EXPECT_EQ(answer.find("HTTP/1.1", 1), answer.npos) << answer;
  }
  EXPECT_EQ(handled, 0);
  EXPECT_EQ(server->stats().refused, std::size(rows));
}

TEST(HttpServer, DropsSlowClients) {
  Loop loop;
  ServerOptions options;
  options.readHeaderTimeout = 50ms;
  options.readBodyTimeout = 50ms;
  auto server = serve(loop, options, echo);
  struct Row {
    const char* text;
    int status;
  };
  const Row rows[] = {
      {"", 0},
      {"GET / HT", 408},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab", 408},
  };
  for (const Row& row : rows) {
    auto socket = RawSocket::to(server->port());
    socket.send(row.text);
    EXPECT_EQ(statusOf(socket.receiveAll()), row.status) << row.text;
  }
}

TEST(HttpServer, ClosesIdleConnections) {
  Loop loop;
  ServerOptions options;
  options.idleTimeout = 50ms;
  auto server = serve(loop, options, echo);
  auto socket = RawSocket::to(server->port());
  socket.send(kGet);
  EXPECT_EQ(statusOf(socket.receiveAll()), 200);
}

TEST(HttpServer, SurvivesClientsThatReset) {
  Loop loop;
  Awaitable<std::vector<std::shared_ptr<Exchange>>> waiting;
  auto server = serve(loop, {}, [&](std::shared_ptr<Exchange> exchange) {
    waiting.change([&](auto& all) { all.push_back(exchange); });
  });
  {
    auto socket = RawSocket::to(server->port());
    socket.send(kGet);
    ASSERT_TRUE(waiting.until([](auto& all) { return all.size() == 1; }));
    socket.resetOnClose();
  }
  waiting.get()[0]->reply(HttpResponse::text(200, std::string(1 << 20, 'x')));
  auto socket = RawSocket::to(server->port());
  socket.send(kGetClose);
  ASSERT_TRUE(waiting.until([](auto& all) { return all.size() == 2; }));
  waiting.get()[1]->reply(HttpResponse::text(200, "fine"));
  EXPECT_TRUE(socket.receiveAll().ends_with("fine"));
  waiting.change([](auto& all) { all.clear(); });
}

TEST(HttpServer, MakesRoomByClosingTheLongestIdle) {
  Loop loop;
  ServerOptions options;
  options.maxConnections = 2;
  auto server = serve(loop, options, echo);
  auto first = RawSocket::to(server->port());
  first.send(kGet);
  first.receiveUntil("GET /x ");
  auto second = RawSocket::to(server->port());
  second.send(kGet);
  second.receiveUntil("GET /x ");
  auto third = RawSocket::to(server->port());
  third.send(kGet);
  EXPECT_EQ(statusOf(third.receiveUntil("GET /x ")), 200);
  EXPECT_EQ(first.receive(), "");
  second.send(kGet);
  EXPECT_EQ(statusOf(second.receiveUntil("GET /x ")), 200);
}

TEST(HttpServer, TurnsAwayWhenEverybodyIsBusy) {
  Loop loop;
  Awaitable<std::shared_ptr<Exchange>> held;
  ServerOptions options;
  options.maxConnections = 1;
  auto server = serve(loop, options, [&](std::shared_ptr<Exchange> exchange) {
    held.change([&](auto& slot) { slot = exchange; });
  });
  auto busy = RawSocket::to(server->port());
  busy.send(kGetClose);
  ASSERT_TRUE(held.until([](auto& slot) { return slot != nullptr; }));
  auto late = RawSocket::to(server->port());
  EXPECT_EQ(statusOf(late.receiveAll()), 503);
  held.get()->reply(HttpResponse::text(200, "done"));
  EXPECT_TRUE(busy.receiveAll().ends_with("done"));
  held.change([](auto& slot) { slot.reset(); });
}

TEST(HttpServer, PausesWhenDescriptorsRunOut) {
#if defined(__SANITIZE_ADDRESS__)
  // The undefined-behaviour sanitizer opens a pipe to look at memory and takes failure for a fault.
  GTEST_SKIP() << "sanitizers cannot do without descriptors";
#endif
  LogCapture log;
  Loop loop;
  auto server = serve(loop, {}, echo);
  auto socket = RawSocket::to(server->port());
  socket.send(kGet);
  socket.receiveUntil("GET /x ");
  // The client's own end is open before the limit falls, so only accept() suffers.
  int extra = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  rlimit old{};
  ::getrlimit(RLIMIT_NOFILE, &old);
  rlimit low{static_cast<rlim_t>(extra) + 1, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  std::vector<int> fillers;
  for (int fd; (fd = ::dup(extra)) >= 0;) fillers.push_back(fd);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server->port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(extra, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  RawSocket late(extra);
  late.send(kGetClose);
  while (server->stats().acceptPauses == 0) std::this_thread::yield();
  ::setrlimit(RLIMIT_NOFILE, &old);
  for (int fd : fillers) ::close(fd);
  EXPECT_EQ(statusOf(late.receiveAll()), 200);
  EXPECT_TRUE(log.contains("cannot accept connections"));
}

TEST(HttpServer, ListensOnUnixSockets) {
  TempFolder dir;
  Loop loop;
  ServerOptions options;
  options.unixPath = dir.file("s.sock");
  {
    auto server = serve(loop, options, [](std::shared_ptr<Exchange> exchange) {
      exchange->reply(HttpResponse::text(200, exchange->request().peer.address));
    });
    EXPECT_EQ(server->port(), 0);
    struct stat status {};
    ASSERT_EQ(::stat(options.unixPath.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    EXPECT_FALSE(HttpServer::listen(loop, options, echo)) << "somebody listens there";
    auto client = connect(loop, to(*server));
    auto answer = client->call({});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->body, "unix");
  }
  EXPECT_FALSE(std::filesystem::exists(options.unixPath));
}

TEST(HttpServer, ReplacesStaleSocketsOnly) {
  TempFolder dir;
  Loop loop;
  ServerOptions options;
  options.unixPath = dir.file("s.sock");
  int stale = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  options.unixPath.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(stale, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(stale);
  EXPECT_TRUE(HttpServer::listen(loop, options, echo));
  options.unixPath = dir.file("file");
  ::close(::open(options.unixPath.c_str(), O_CREAT | O_WRONLY, 0600));
  auto refused = HttpServer::listen(loop, options, echo);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("no socket"), std::string::npos) << refused.error().text();
}

TEST(HttpServer, SaysWhyItCannotListen) {
  Loop loop;
  auto server = serve(loop, {}, echo);
  ServerOptions options;
  options.port = server->port();
  auto second = HttpServer::listen(loop, options, echo);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().text().find(std::to_string(server->port())), std::string::npos);
  options.bind = "nowhere";
  EXPECT_EQ(HttpServer::listen(loop, options, echo).error().code(), Code::kInvalid);
}

TEST(HttpServer, ListensOnIpv6) {
  Loop loop;
  ServerOptions options;
  options.bind = "::1";
  auto listening = HttpServer::listen(loop, options, echo);
  if (!listening) GTEST_SKIP() << "no IPv6 here: " << listening.error().text();
  auto client = connect(loop, to(**listening));
  auto answer = client->call({});
  ASSERT_TRUE(answer) << answer.error().text();
}

TEST(HttpServer, ShutdownFinishesWhatRuns) {
  Loop loop(2);
  Awaitable<std::shared_ptr<Exchange>> held;
  auto server = serve(loop, {}, [&](std::shared_ptr<Exchange> exchange) {
    held.change([&](auto& slot) { slot = exchange; });
  });
  auto idle = RawSocket::to(server->port());
  auto busy = RawSocket::to(server->port());
  busy.send(kGet);
  ASSERT_TRUE(held.until([](auto& slot) { return slot != nullptr; }));
  std::thread stopping([&] { server->shutdown(kPatience); });
  EXPECT_EQ(idle.receive(), "");  // idle ones go at once
  held.get()->reply(HttpResponse::text(200, "finished"));
  std::string answer = busy.receiveAll();
  EXPECT_TRUE(answer.ends_with("finished")) << answer;
  EXPECT_NE(answer.find("Connection: close"), answer.npos);
  busy.close();
  stopping.join();
  EXPECT_EQ(server->stats().open, 0u);
  held.change([](auto& slot) { slot.reset(); });
}

TEST(HttpServer, ShutdownDoesNotWaitForEver) {
  Loop loop;
  Awaitable<std::shared_ptr<Exchange>> held;
  auto server = serve(loop, {}, [&](std::shared_ptr<Exchange> exchange) {
    held.change([&](auto& slot) { slot = exchange; });
  });
  auto busy = RawSocket::to(server->port());
  busy.send(kGet);
  ASSERT_TRUE(held.until([](auto& slot) { return slot != nullptr; }));
  server->shutdown(20ms);
  EXPECT_EQ(busy.receiveAll(), "");
  server.reset();
  held.get()->reply(HttpResponse::text(200, "too late"));  // does nothing
  held.change([](auto& slot) { slot.reset(); });
}

}  // namespace
}  // namespace mangrove::net::testing
