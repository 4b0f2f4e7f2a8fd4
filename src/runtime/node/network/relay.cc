#include "runtime/node/network/relay.h"

#include <cerrno>
#include <string>

#include <sys/epoll.h>
#include <sys/socket.h>

namespace mangrove::runtime {

namespace {

constexpr size_t kBuffer = 64 * 1024;

class Relay : public std::enable_shared_from_this<Relay> {
 public:
  Relay(FdLoop& loop, UniqueFd a, UniqueFd b, RelayRoom::Place place)
      : loop_(loop), place_(std::move(place)) {
    sides_[0].fd = std::move(a);
    sides_[1].fd = std::move(b);
  }

  void begin() {
    for (int i : {0, 1})
      loop_.watch(sides_[i].fd.get(), EPOLLIN,
                  [self = shared_from_this(), i](uint32_t events) { self->ready(i, events); });
    // The second side may be connecting: reading from the first waits until it can be written to.
    interest();
  }

 private:
  struct Side {
    UniqueFd fd;
    std::string out;     // to be written to this side
    bool ended = false;  // nothing more comes from this side
    bool shut = false;   // told that nothing more comes to it
  };

  void ready(int i, uint32_t events) {
    if ((events & (EPOLLERR | EPOLLHUP)) && !(events & (EPOLLIN | EPOLLOUT))) return end();
    if ((events & EPOLLIN) && !receive(sides_[i], sides_[1 - i])) return end();
    if (!flush(sides_[i]) || !flush(sides_[1 - i])) return end();
    finishHalves();
    if (sides_[0].shut && sides_[1].shut) return end();
    interest();
  }

  static bool receive(Side& from, Side& to) {
    if (from.ended || to.out.size() >= kBuffer) return true;
    char buffer[kBuffer];
    const ssize_t n = ::recv(from.fd.get(), buffer, sizeof buffer, 0);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) from.ended = true;
    to.out.append(buffer, static_cast<size_t>(n));
    return true;
  }

  static bool flush(Side& side) {
    while (!side.out.empty()) {
      const ssize_t n = ::send(side.fd.get(), side.out.data(), side.out.size(), MSG_NOSIGNAL);
      if (n < 0) return errno == EAGAIN || errno == EINTR || errno == ENOTCONN;
      side.out.erase(0, static_cast<size_t>(n));
    }
    return true;
  }

  void finishHalves() {
    for (int i : {0, 1}) {
      Side &from = sides_[i], &to = sides_[1 - i];
      if (!from.ended || !to.out.empty() || to.shut) continue;
      ::shutdown(to.fd.get(), SHUT_WR);
      to.shut = true;
    }
  }

  void interest() {
    for (int i : {0, 1}) {
      const bool read = !sides_[i].ended && sides_[1 - i].out.size() < kBuffer;
      loop_.change(sides_[i].fd.get(), (read ? uint32_t{EPOLLIN} : 0u) |
                                           (sides_[i].out.empty() ? 0u : uint32_t{EPOLLOUT}));
    }
  }

  void end() {
    auto self = shared_from_this();
    for (auto& side : sides_) {
      if (!side.fd) continue;
      loop_.forget(side.fd.get());
      side.fd.reset();
    }
    place_.reset();
  }

  FdLoop& loop_;
  RelayRoom::Place place_;
  Side sides_[2];
};

}  // namespace

void startRelay(FdLoop& loop, UniqueFd from, UniqueFd to, RelayRoom::Place place) {
  std::make_shared<Relay>(loop, std::move(from), std::move(to), std::move(place))->begin();
}

}  // namespace mangrove::runtime
