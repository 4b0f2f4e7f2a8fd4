// Who sends a body is asked before it is read; what those who are not known may fill is bounded.
#include "net/server/http_server.h"
#include "net/test_support.h"

namespace mangrove::net::testing {
namespace {

std::string head(size_t length, const std::string& more = "") {
  return fmt::format("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n{}\r\n", length, more);
}

// Says what the test wants, when it wants.
struct Judge {
  Awaitable<std::vector<std::string>> asked;  // the values of the header Who
  UniqueFn<void(HeadVerdict)> waiting;
  std::function<void(const HttpRequest&, UniqueFn<void(HeadVerdict)>&)> say;

  CheckHead check() {
    return [this](const HttpRequest& request, UniqueFn<void(HeadVerdict)> verdict) {
      if (say) say(request, verdict);
      if (verdict) waiting = std::move(verdict);
      asked.change([&](auto& all) { all.emplace_back(request.headers.get("Who")); });
    };
  }
};

ServerOptions judgedBy(Judge& judge) {
  ServerOptions options;
  options.checkHead = judge.check();
  return options;
}

void sayKnown(const HttpRequest&, UniqueFn<void(HeadVerdict)>& verdict) {
  std::exchange(verdict, nullptr)({.known = true});
}
void sayStranger(const HttpRequest&, UniqueFn<void(HeadVerdict)>& verdict) {
  std::exchange(verdict, nullptr)({.known = false});
}

TEST(HeadCheck, ReadsTheBodyOnlyAfterTheVerdict) {
  Loop loop;
  Judge judge;
  auto server = serve(loop, judgedBy(judge), echo);
  auto socket = RawSocket::to(server->port());
  socket.send(head(5, "Who: me\r\nConnection: close\r\n"));
  ASSERT_TRUE(judge.asked.until([](auto& all) { return all.size() == 1; }));
  EXPECT_EQ(judge.asked.get().front(), "me");
  socket.send("hello");
  EXPECT_EQ(server->stats().requests, 0u);
  judge.waiting({.known = true});
  EXPECT_TRUE(socket.receiveAll().ends_with("POST /x hello"));
}

TEST(HeadCheck, ARefusedSenderIsAnsweredBeforeHisBody) {
  Loop loop;
  Judge judge;
  judge.say = [](const HttpRequest&, auto& verdict) {
    std::exchange(verdict, nullptr)({.refusal = HttpResponse::text(401, "who are you")});
  };
  auto server = serve(loop, judgedBy(judge), echo);
  auto socket = RawSocket::to(server->port());
  socket.send(head(3 << 20, "Expect: 100-continue\r\n"));
  const std::string answer = socket.receiveUntil("who are you");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 401")) << answer << ": and no 100 Continue before";
  EXPECT_EQ(server->stats().requests, 0u);
}

TEST(HeadCheck, ABodyThatComesWithItsHeadNeedsNoQuestion) {
  Loop loop;
  Judge judge;
  auto server = serve(loop, judgedBy(judge), echo);
  auto socket = RawSocket::to(server->port());
  socket.send(head(5, "Connection: close\r\n") + "hello");
  EXPECT_TRUE(socket.receiveAll().ends_with("hello"));
  EXPECT_TRUE(judge.asked.get().empty());
}

TEST(HeadCheck, AClientThatGoesWhileItsHeadIsJudgedIsForgotten) {
  Loop loop;
  Judge judge;
  auto server = serve(loop, judgedBy(judge), echo);
  {
    auto socket = RawSocket::to(server->port());
    socket.send(head(5));
    ASSERT_TRUE(judge.asked.until([](auto& all) { return all.size() == 1; }));
  }
  judge.waiting({.known = true});
  server->shutdown(kPatience);
  EXPECT_EQ(server->stats().requests, 0u);
}

// One account for all: what some hold is not there for others, and those who are known need none.
TEST(HeadCheck, BodiesOfStrangersShareOneBudget) {
  Loop loop;
  Judge judge;
  judge.say = sayStranger;
  Awaitable<std::vector<std::shared_ptr<Exchange>>> held;
  ServerOptions options = judgedBy(judge);
  options.maxStrangers = Bytes{1000};
  auto server = serve(loop, options, [&](std::shared_ptr<Exchange> exchange) {
    held.change([&](auto& all) { all.push_back(exchange); });
  });
  auto first = RawSocket::to(server->port());
  first.send(head(900, "Connection: close\r\n"));
  ASSERT_TRUE(judge.asked.until([](auto& all) { return all.size() == 1; }));
  first.send(std::string(900, 'x'));
  ASSERT_TRUE(held.until([](auto& all) { return all.size() == 1; }));
  EXPECT_EQ(server->stats().strangers.v, 900) << "held until it is answered";

  auto second = RawSocket::to(server->port());
  second.send(head(101));
  ASSERT_TRUE(judge.asked.until([](auto& all) { return all.size() == 2; }));
  second.send(std::string(101, 'x'));
  EXPECT_TRUE(second.receiveUntil("try later").starts_with("HTTP/1.1 429"));

  held.change([](auto& all) { all[0]->reply(HttpResponse::text(200, "")); });
  first.receiveAll();
  judge.say = sayKnown;
  auto third = RawSocket::to(server->port());
  third.send(head(5000));
  ASSERT_TRUE(judge.asked.until([](auto& all) { return all.size() == 3; }));
  third.send(std::string(5000, 'x'));
  ASSERT_TRUE(held.until([](auto& all) { return all.size() == 2; }));
  EXPECT_EQ(server->stats().strangers.v, 0);
}

}  // namespace
}  // namespace mangrove::net::testing
