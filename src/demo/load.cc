#include "demo/load.h"

#include <algorithm>
#include <cerrno>
#include <deque>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/os/fd.h"

namespace mangrove::demo {
namespace {

// So many that a request hardly ever waits for a connection, only for the service.
constexpr int kConnections = 64;
constexpr Duration kBegin = std::chrono::milliseconds(50);
constexpr Duration kPatience = std::chrono::seconds(30);

struct Connection {
  UniqueFd fd;
  std::string seen = {};
  MonoTime due{};  // of the request that is under way
};

UniqueFd connectTo(uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int one = 1;
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return UniqueFd();
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

void note(agent::LoadResult& out, Duration latency) {
  const uint64_t index = out.count++;
  if (index < agent::LoadResult::kMost)
    out.latencyMs[index] = std::chrono::duration<float, std::milli>(latency).count();
}

class Gun {
 public:
  Gun(const agent::Service& service, std::string (*requestFor)(const Shot&), agent::LoadResult& out)
      : service_(service), requestFor_(requestFor), out_(out) {}

  bool load() {
    connections_.resize(kConnections);
    for (Connection& c : connections_) {
      c.fd = connectTo(service_.port);
      if (!c.fd) return false;
      epoll_event event{.events = EPOLLIN, .data = {.ptr = &c}};
      ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, c.fd.get(), &event);
      idle_.push_back(&c);
    }
    return true;
  }

  void run(const std::vector<Shot>& shots) {
    const MonoTime start = realClock().mono() + kBegin;
    const MonoTime end = start + (shots.empty() ? Duration{} : shots.back().at) + kPatience;
    size_t next = 0;
    while (next < shots.size() || underWay_ > 0 || !waiting_.empty()) {
      const MonoTime now = realClock().mono();
      if (now >= end) break;
      for (; next < shots.size() && start + shots[next].at <= now; ++next)
        waiting_.push_back({&shots[next], start + shots[next].at});
      if (!sendWaiting()) break;
      answer(next < shots.size() ? start + shots[next].at : end);
    }
    out_.failed += underWay_ + waiting_.size() + (shots.size() - next);
  }

 private:
  struct Due {
    const Shot* shot;
    MonoTime at;
  };

  // False when no connection is left that could ever take one.
  bool sendWaiting() {
    while (!waiting_.empty() && !idle_.empty()) {
      Connection& c = *idle_.back();
      idle_.pop_back();
      const Due due = waiting_.front();
      waiting_.pop_front();
      const std::string text = requestFor_ != nullptr ? requestFor_(*due.shot) : service_.request;
      c.due = due.at;
      ++underWay_;
      if (::send(c.fd.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0) lose(c);
    }
    return !idle_.empty() || underWay_ > 0;
  }

  void lose(Connection& c) {
    c.fd.reset();
    --underWay_;
    ++out_.failed;
  }

  // What comes until then, or before.
  void answer(MonoTime until) {
    const Duration left = std::max(until - realClock().mono(), Duration{});
    const timespec most{left / std::chrono::seconds(1), (left % std::chrono::seconds(1)).count()};
    epoll_event ready[kConnections];
    const int count = ::epoll_pwait2(events_.get(), ready, kConnections, &most, nullptr);
    for (int i = 0; i < count; ++i) read(*static_cast<Connection*>(ready[i].data.ptr));
  }

  void read(Connection& c) {
    char buffer[8192];
    const ssize_t got = ::recv(c.fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    const bool asked = c.due != MonoTime{};
    if (got <= 0) return asked ? lose(c) : forget(c);
    c.seen.append(buffer, static_cast<size_t>(got));
    const size_t whole = service_.answer(c.seen);
    if (whole == 0) return;
    note(out_, realClock().mono() - c.due);
    c.seen.erase(0, whole);
    c.due = {};
    --underWay_;
    idle_.push_back(&c);
  }

  void forget(Connection& c) {
    c.fd.reset();
    std::erase(idle_, &c);
  }

  const agent::Service& service_;
  std::string (*requestFor_)(const Shot&);
  agent::LoadResult& out_;
  UniqueFd events_{::epoll_create1(EPOLL_CLOEXEC)};
  std::vector<Connection> connections_;
  std::vector<Connection*> idle_;
  std::deque<Due> waiting_;
  size_t underWay_ = 0;
};

}  // namespace

void fire(const agent::Service& service, const std::vector<Shot>& shots,
          std::string (*requestFor)(const Shot&), agent::LoadResult& out) {
  Gun gun(service, requestFor, out);
  if (!gun.load()) return void(++out.failed);
  gun.run(shots);
}

}  // namespace mangrove::demo
