#include "runtime/node/network/port_listener.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>

#include <arpa/inet.h>
#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "runtime/core/affinity.h"
#include "runtime/node/network/address.h"
#include "runtime/node/network/relay.h"

namespace mangrove::runtime {

namespace {

constexpr size_t kMaxSenders = 1024;  // of datagrams, per port
constexpr Duration kSilence = std::chrono::minutes(1);
constexpr size_t kDatagram = 65'536;
constexpr int kAtATime = 64;  // then others of the loop have their turn

Result<UniqueFd> bindAt(const std::string& ip, uint16_t port, int type) {
  auto address = placeOf(ip, port);
  if (!address) return pass(address.error());
  UniqueFd fd(::socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return failErrno(errno, "socket");
  const int yes = 1;
  if (type == SOCK_STREAM) ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool bound =
      ::bind(fd.get(), reinterpret_cast<sockaddr*>(&*address), sizeof *address) == 0 &&
      (type != SOCK_STREAM || ::listen(fd.get(), 128) == 0);
  if (!bound) return failErrno(errno, fmt::format("listening on {}:{}", ip, port));
  return fd;
}

UniqueFd connectTo(const Backend& backend, int type) {
  auto address = placeOf(backend.ip, backend.port);
  if (!address) return UniqueFd();
  UniqueFd fd(::socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  const int rc = ::connect(fd.get(), reinterpret_cast<sockaddr*>(&*address), sizeof *address);
  if (rc < 0 && errno != EINPROGRESS) return UniqueFd();
  return fd;
}

// What both kinds have: a socket in the loop and backends that take turns.
class Base : public PortListener, public std::enable_shared_from_this<Base> {
 public:
  Base(FdLoop& loop, UniqueFd fd, RelayRoom::Place place)
      : loop_(loop), fd_(std::move(fd)), place_(std::move(place)) {}
  void begin() {
    loop_.post([self = shared_from_this()] {
      self->loop_.watch(self->fd_.get(), EPOLLIN, [self](uint32_t) { self->ready(); });
    });
  }
  void setBackends(std::vector<Backend> backends, Duration affinity) override {
    std::lock_guard lock(mutex_);
    backends_ = std::move(backends);
    affinity_ = affinity;
  }
  void close() override {
    loop_.post([self = shared_from_this()] { self->end(); });
  }

 protected:
  virtual void ready() = 0;
  virtual void end() {
    if (!fd_) return;
    loop_.forget(fd_.get());
    fd_.reset();
    place_.reset();
  }
  std::optional<Backend> nextFor(const sockaddr_in& client) {
    std::lock_guard lock(mutex_);
    if (backends_.empty()) return std::nullopt;
    const size_t turn = turn_++;
    if (affinity_ == Duration::zero()) return backends_[turn % backends_.size()];
    return regulars_.choose(client.sin_addr.s_addr, backends_, turn, affinity_, realClock().mono());
  }
  bool isBackend(const Backend& backend) {
    std::lock_guard lock(mutex_);
    return std::find(backends_.begin(), backends_.end(), backend) != backends_.end();
  }

  FdLoop& loop_;
  UniqueFd fd_;

 private:
  RelayRoom::Place place_;
  std::mutex mutex_;
  std::vector<Backend> backends_;
  Duration affinity_ = Duration::zero();
  Affinity regulars_;
  size_t turn_ = 0;
};

class Stream final : public Base {
 public:
  using Base::Base;

 private:
  void ready() override {
    sockaddr_in from{};
    socklen_t size = sizeof from;
    UniqueFd client(::accept4(fd_.get(), reinterpret_cast<sockaddr*>(&from), &size,
                              SOCK_NONBLOCK | SOCK_CLOEXEC));
    auto backend = client ? nextFor(from) : std::nullopt;
    if (!backend) return;  // closed at once: nobody is there
    auto place = RelayRoom::ofProcess().take(from.sin_addr.s_addr);
    UniqueFd pod = place ? connectTo(*backend, SOCK_STREAM) : UniqueFd();
    if (pod) startRelay(loop_, std::move(client), std::move(pod), std::move(place));
  }
};

class Datagram final : public Base {
 public:
  using Base::Base;

 private:
  using Sender = std::pair<uint32_t, uint16_t>;
  struct Talk {
    UniqueFd fd;
    Backend backend;
    MonoTime last;
    RelayRoom::Place place;
  };

  void ready() override {
    char buffer[kDatagram];
    for (int i = 0; i < kAtATime; ++i) {
      sockaddr_in from{};
      socklen_t size = sizeof from;
      const ssize_t n = ::recvfrom(fd_.get(), buffer, sizeof buffer, 0,
                                   reinterpret_cast<sockaddr*>(&from), &size);
      if (n < 0) return;
      if (Talk* talk = talkOf(from))
        (void)!::send(talk->fd.get(), buffer, static_cast<size_t>(n), MSG_NOSIGNAL);
    }
  }

  Talk* talkOf(const sockaddr_in& from) {
    const Sender sender{from.sin_addr.s_addr, from.sin_port};
    const MonoTime now = realClock().mono();
    auto found = talks_.find(sender);
    if (found != talks_.end() && !isBackend(found->second.backend)) {
      drop(found);
      found = talks_.end();
    }
    if (found == talks_.end()) {
      forgetSilent(now);
      auto backend = nextFor(from);
      const bool isFree = backend && talks_.size() < kMaxSenders;
      auto place = isFree ? RelayRoom::ofProcess().take(from.sin_addr.s_addr) : nullptr;
      UniqueFd fd = place ? connectTo(*backend, SOCK_DGRAM) : UniqueFd();
      if (!fd) return nullptr;
      const int number = fd.get();
      found = talks_.emplace(sender, Talk{std::move(fd), *backend, now, std::move(place)}).first;
      loop_.watch(number, EPOLLIN, [self = shared_from_this(), this, from, number](uint32_t) {
        answer(from, number);
      });
    }
    found->second.last = now;
    return &found->second;
  }

  void answer(const sockaddr_in& to, int fd) {
    char buffer[kDatagram];
    for (int i = 0; i < kAtATime; ++i) {
      const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
      if (n < 0) return;
      (void)!::sendto(fd_.get(), buffer, static_cast<size_t>(n), MSG_NOSIGNAL,
                      reinterpret_cast<const sockaddr*>(&to), sizeof to);
    }
  }

  void drop(std::map<Sender, Talk>::iterator talk) {
    loop_.forget(talk->second.fd.get());
    talks_.erase(talk);
  }

  void forgetSilent(MonoTime now) {
    for (auto at = talks_.begin(); at != talks_.end();) {
      const auto next = std::next(at);
      if (now - at->second.last > kSilence) drop(at);
      at = next;
    }
  }

  void end() override {
    while (!talks_.empty()) drop(talks_.begin());
    Base::end();
  }

  std::map<Sender, Talk> talks_;
};

}  // namespace

Result<std::shared_ptr<PortListener>> PortListener::open(FdLoop& loop, const std::string& protocol,
                                                         const std::string& ip, uint16_t port) {
  const bool stream = protocol.empty() || protocol == "TCP";
  if (!stream && protocol != "UDP")
    return fail(Code::kUnsupported, "port {}: protocol {} is not carried here, TCP and UDP are",
                port, protocol);
  auto place = RelayRoom::ofPorts().take(0);
  if (!place) return fail(Code::kUnavailable, "{}:{}: no more ports can be listened on", ip, port);
  auto fd = bindAt(ip, port, stream ? SOCK_STREAM : SOCK_DGRAM);
  if (!fd) return pass(fd.error());
  std::shared_ptr<Base> made;
  if (stream) {
    made = std::make_shared<Stream>(loop, std::move(*fd), std::move(place));
  } else {
    made = std::make_shared<Datagram>(loop, std::move(*fd), std::move(place));
  }
  made->begin();
  return std::shared_ptr<PortListener>(made);
}

}  // namespace mangrove::runtime
