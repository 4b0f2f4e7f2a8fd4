// gRPC health checks: the message, the verdict, and a whole conversation with a server on loopback.
#include "runtime/node/pods/grpc_probe.h"

#include <future>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mangrove::runtime {
namespace {

TEST(GrpcHealth, AsksForAService) {
  EXPECT_EQ(healthRequest(""), "");
  EXPECT_EQ(healthRequest("db"), std::string("\x0a\x02") + "db");
  EXPECT_EQ(healthRequest(std::string(200, 'x')), "\x0a\xc8\x01" + std::string(200, 'x'));
}

TEST(GrpcHealth, JudgesAnswers) {
  struct Row {
    net::GrpcReply reply;
    bool good;
    const char* says;
  };
  const Row rows[] = {
      {{std::string("\x08\x01", 2)}, true, ""},
      {{std::string("\x08\x02", 2)}, false, "service unhealthy (responded with \"NOT_SERVING\")"},
      {{""}, false, "service unhealthy (responded with \"UNKNOWN\")"},
      {{"", false, 12, "no"}, false, "does not implement the grpc health protocol"},
      {{"", false, 5, "no such service"}, false, "failed with status 5: no such service"},
  };
  for (const Row& row : rows) {
    const ActionResult result = judgeHealth(row.reply);
    EXPECT_EQ(result.good, row.good) << row.says;
    EXPECT_NE(result.output.find(row.says), std::string::npos) << result.output;
  }
  EXPECT_FALSE(judgeHealth(fail(Code::kUnavailable, "gone")).good);
}

// Answers one connection: healthy is whoever asks for "good".
class HealthServer {
 public:
  HealthServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    ::listen(listener_.get(), 1);
    thread_ = std::thread([this] { serve(); });
  }
  ~HealthServer() { thread_.join(); }
  sockaddr_in address{};

 private:
  void serve() {
    UniqueFd socket(::accept(listener_.get(), nullptr, nullptr));
    net::GrpcWire wire(net::GrpcWire::Side::kServer);
    char buffer[4096];
    for (ssize_t n; (n = ::recv(socket.get(), buffer, sizeof buffer, 0)) > 0;) {
      if (!wire.give({buffer, static_cast<size_t>(n)})) return;
      for (auto& [id, stream] : wire.streams()) {
        std::string asked;
        if (!stream.complete || !stream.trailers.empty()) continue;
        const bool good = net::GrpcWire::messageOf(stream, asked) && asked == healthRequest("good");
        wire.respond(id, {std::string(good ? "\x08\x01" : "\x08\x02", 2)});
      }
      const std::string out = wire.take();
      (void)!::send(socket.get(), out.data(), out.size(), MSG_NOSIGNAL);
    }
  }

  UniqueFd listener_;
  std::thread thread_;
};

ActionResult ask(const sockaddr_in& address, const std::string& service) {
  FdLoop loop;
  std::promise<ActionResult> answer;
  askHealth(loop, realClock(), address, "localhost", service,
            [&](ActionResult result) { answer.set_value(std::move(result)); });
  return answer.get_future().get();
}

TEST(GrpcHealth, TalksToAServer) {
  HealthServer healthy, sick;
  EXPECT_TRUE(ask(healthy.address, "good").good);
  const ActionResult bad = ask(sick.address, "");
  EXPECT_FALSE(bad.good);
  EXPECT_EQ(bad.output, "service unhealthy (responded with \"NOT_SERVING\")");
}

TEST(GrpcHealth, SaysWhenNobodyListens) {
  UniqueFd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(taken.get(), reinterpret_cast<sockaddr*>(&address), size);  // bound, not listening
  ::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&address), &size);
  EXPECT_EQ(ask(address, "").output, "connect: Connection refused");
}

}  // namespace
}  // namespace mangrove::runtime
