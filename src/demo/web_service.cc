#include "demo/web_service.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/os/fd.h"
#include "base/text/strings.h"

namespace mangrove::demo {
namespace {

constexpr size_t kBody = 1400;

const std::string& answer() {
  static const std::string text = fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}",
                                              kBody, std::string(kBody, 'm'));
  return text;
}

struct Connection;
// What the queue hands out: a connection with something to read, or one whose backend answered.
struct Source {
  Connection* of = nullptr;
  int fd = -1;
};

// One request at a time. Either its socket or its timer is armed, never both, and each for one
// event, so that one thread at a time has it.
struct Connection {
  UniqueFd socket, timer;
  Source readable, answered;
  std::string seen = {};
  Asked asked = {};
};

class Server {
 public:
  Server(int listener, void (*compute)(uint32_t)) : listener_(listener), compute_(compute) {
    epoll_event event{.events = EPOLLIN | EPOLLEXCLUSIVE, .data = {.ptr = nullptr}};
    ::epoll_ctl(queue_.get(), EPOLL_CTL_ADD, listener_, &event);
  }

  [[noreturn]] void work() {
    for (;;) {
      epoll_event event{};
      if (::epoll_wait(queue_.get(), &event, 1, -1) != 1) continue;
      auto* source = static_cast<Source*>(event.data.ptr);
      if (source == nullptr)
        acceptOne();
      else if (source == &source->of->answered)
        finish(*source->of);
      else
        read(*source->of);
    }
  }

 private:
  void acceptOne() {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    const int one = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    auto* made = new Connection{
        UniqueFd(fd), UniqueFd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)), {}, {}};
    made->readable = {made, fd};
    made->answered = {made, made->timer.get()};
    arm(made->answered, EPOLL_CTL_ADD, 0);
    arm(made->readable, EPOLL_CTL_ADD, EPOLLIN);
  }

  void arm(Source& source, int how, uint32_t events) {
    epoll_event event{.events = events | EPOLLONESHOT, .data = {.ptr = &source}};
    ::epoll_ctl(queue_.get(), how, source.fd, &event);
  }

  void read(Connection& c) {
    char buffer[4096];
    const ssize_t got = ::recv(c.socket.get(), buffer, sizeof buffer, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return delete &c;
    if (got > 0) c.seen.append(buffer, static_cast<size_t>(got));
    const size_t end = c.seen.find("\r\n\r\n");
    if (end == std::string::npos) return arm(c.readable, EPOLL_CTL_MOD, EPOLLIN);
    c.asked = askedOf(c.seen).value_or(Asked{});
    c.seen.erase(0, end + 4);
    begin(c);
  }

  void begin(Connection& c) {
    compute_(c.asked.workMicros / 2);
    if (c.asked.waitMicros == 0) return finish(c);
    const itimerspec wait{.it_interval = {},
                          .it_value = {.tv_sec = c.asked.waitMicros / 1'000'000,
                                       .tv_nsec = long{c.asked.waitMicros % 1'000'000} * 1000}};
    ::timerfd_settime(c.timer.get(), 0, &wait, nullptr);
    arm(c.answered, EPOLL_CTL_MOD, EPOLLIN);
  }

  void finish(Connection& c) {
    if (c.asked.waitMicros > 0) {
      uint64_t times = 0;
      (void)!::read(c.timer.get(), &times, sizeof times);
    }
    compute_(c.asked.workMicros - c.asked.workMicros / 2);
    (void)::send(c.socket.get(), answer().data(), answer().size(), MSG_NOSIGNAL);
    arm(c.readable, EPOLL_CTL_MOD, EPOLLIN);
  }

  int listener_;
  void (*compute_)(uint32_t);
  UniqueFd queue_{::epoll_create1(EPOLL_CLOEXEC)};
};

UniqueFd listenOn(uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int one = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), 64) != 0)
    ::_exit(1);
  return fd;
}

void serve(uint16_t port, void (*compute)(uint32_t)) {
  const UniqueFd listener = listenOn(port);
  Server server(listener.get(), compute);
  std::vector<std::thread> threads;
  const long cpus = std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L);
  for (long i = 1; i < cpus; ++i) threads.emplace_back([&] { server.work(); });
  server.work();
}

// The length of the only answer there is.
size_t wholeAnswer(std::string_view text) {
  return text.size() >= answer().size() ? answer().size() : 0;
}

}  // namespace

agent::Service webService(uint16_t port, void (*compute)(uint32_t microseconds)) {
  agent::Service out{.name = "built-in", .port = port};
  out.run = [port, compute] { serve(port, compute); };
  out.request = requestFor({});
  out.answer = wholeAnswer;
  return out;
}

std::string requestFor(const Shot& shot) {
  return fmt::format("GET /{}/{} HTTP/1.1\r\nHost: demo\r\n\r\n", shot.workMicros, shot.waitMicros);
}

std::optional<Asked> askedOf(std::string_view request) {
  constexpr std::string_view kGet = "GET /";
  if (!request.starts_with(kGet)) return std::nullopt;
  const std::string_view path =
      request.substr(kGet.size(), request.find(' ', kGet.size()) - kGet.size());
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto work = parseInt<uint32_t>(path.substr(0, slash));
  const auto wait = parseInt<uint32_t>(path.substr(slash + 1));
  if (!work || !wait) return std::nullopt;
  return Asked{*work, *wait};
}

}  // namespace mangrove::demo
