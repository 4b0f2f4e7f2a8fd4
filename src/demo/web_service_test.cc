#include "demo/web_service.h"

#include <csignal>
#include <memory>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/fd.h"
#include "demo/load.h"

namespace mangrove::demo {
namespace {

TEST(WebService, ReadsWhatIsAskedFor) {
  EXPECT_EQ(askedOf("GET /500/1200 HTTP/1.1\r\n"), (Asked{500, 1200}));
  EXPECT_EQ(askedOf("GET /0/0 HTTP/1.1\r\n"), (Asked{0, 0}));
  for (const char* other : {"GET / HTTP/1.1", "GET /5 HTTP/1.1", "POST /5/5 HTTP/1.1", "GET /a/5 ",
                            "GET /5/-5 HTTP/1.1", "", "GET /5/5/5 HTTP/1.1"})
    EXPECT_EQ(askedOf(other), std::nullopt) << other;
  EXPECT_EQ(askedOf(requestFor({.workMicros = 7, .waitMicros = 8})), (Asked{7, 8}));
}

uint16_t freePort() {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return 0;
  return ntohs(address.sin_port);
}

// The service in a process of its own, ended with this.
class Served {
 public:
  explicit Served(const agent::Service& service) : pid_(::fork()) {
    if (pid_ == 0) {
      service.run();
      ::_exit(1);
    }
    while (!agent::isUp(service) && ::waitpid(pid_, nullptr, WNOHANG) == 0) ::usleep(1000);
  }
  ~Served() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

TEST(Load, EveryRequestIsAnsweredAndTakesAtLeastItsWait) {
  const auto service = webService(freePort(), [](uint32_t) {});
  const Served served(service);
  std::vector<Shot> shots;
  for (int i = 0; i < 300; ++i)  // far more at once than there are connections
    shots.push_back(
        {.at = std::chrono::milliseconds(i / 100), .workMicros = 1, .waitMicros = 2000});
  auto out = std::make_unique<agent::LoadResult>();
  fire(service, shots, &requestFor, *out);
  EXPECT_EQ(out->count, 300u);
  EXPECT_EQ(out->failed, 0u);
  for (size_t i = 0; i < 300; ++i) EXPECT_GE(out->latencyMs[i], 2.0F);
}

TEST(Load, AServiceThatIsNotThereFails) {
  const auto service = webService(freePort(), [](uint32_t) {});
  auto out = std::make_unique<agent::LoadResult>();
  fire(service, {{.at = {}}}, &requestFor, *out);
  EXPECT_EQ(out->count, 0u);
  EXPECT_GE(out->failed, 1u);
}

}  // namespace
}  // namespace mangrove::demo
