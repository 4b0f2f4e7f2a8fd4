#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/core.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "kernel/sys_root.h"
#include "runtime/node/sessions/sessions.h"

namespace mangrove::runtime {

namespace {

constexpr size_t kRead = 32 * 1024;

// A socket belongs to the namespace it was made in, so stepping over for one call is enough.
Result<UniqueFd> socketIn(int64_t pid) {
  const kernel::SysRoot root;
  Result<kernel::File> own = root.open("proc/thread-self/ns/net", kernel::Access::kRead);
  if (!own) return pass(own.error());
  if (pid > 0) {
    auto theirs = root.open(fmt::format("proc/{}/ns/net", pid), kernel::Access::kRead);
    if (!theirs) return pass(theirs.error());
    if (::setns(theirs->fd(), CLONE_NEWNET) < 0) return failErrno(errno, "network namespace");
  }
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int error = errno;
  if (pid > 0 && ::setns(own->fd(), CLONE_NEWNET) < 0)
    return failErrno(errno, "returning from a network namespace");
  if (!fd) return failErrno(error, "socket");
  return fd;
}

// Loop thread, but for the client's callbacks, which post.
class ForwardPump : public std::enable_shared_from_this<ForwardPump> {
 public:
  ForwardPump(FdLoop& loop, std::unique_ptr<net::ByteStream> client,
              UniqueFn<void(std::string)> ended)
      : loop_(loop), client_(std::move(client)), ended_(std::move(ended)) {}

  void begin(int64_t pid, uint16_t port) {
    auto fd = socketIn(pid);
    if (!fd) return end(fd.error().text());
    socket_ = std::move(*fd);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int rc = ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    if (rc < 0 && errno != EINPROGRESS) return refused(port, errno);
    loop_.watch(socket_.get(), EPOLLOUT, [self = shared_from_this(), port](uint32_t) {
      int error = 0;
      socklen_t size = sizeof error;
      ::getsockopt(self->socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) return self->refused(port, error);
      self->connected();
    });
  }

 private:
  void refused(uint16_t port, int error) {
    end(fmt::format("failed to connect to localhost:{} inside the pod: {}", port,
                    std::strerror(error)));
  }

  void connected() {
    loop_.watch(socket_.get(), EPOLLIN, [self = shared_from_this()](uint32_t events) {
      if (events & EPOLLOUT) self->writePending();
      if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) self->readSocket();
    });
    readClient();
  }

  void interest() {
    if (!socket_) return;
    loop_.change(socket_.get(), (writing_ || podDone_ ? 0u : uint32_t{EPOLLIN}) |
                                    (pending_.empty() ? 0u : uint32_t{EPOLLOUT}));
  }

  void readSocket() {
    if (!socket_ || writing_ || podDone_) return;
    char buffer[kRead];
    const ssize_t n = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      podDone_ = true;
      client_->finish();
      return end("");
    }
    writing_ = true;
    client_->write(std::string(buffer, static_cast<size_t>(n)),
                   [weak = weak_from_this(), &loop = loop_](Result<> sent) {
                     loop.post([weak, good = sent.has_value()] {
                       auto self = weak.lock();
                       if (!self) return;
                       self->writing_ = false;
                       if (!good) return self->end("");
                       self->interest();
                     });
                   });
    interest();
  }

  void readClient() {
    if (!client_) return;
    client_->read([weak = weak_from_this(), &loop = loop_](Result<std::string> got) {
      loop.post([weak, got = std::move(got)]() mutable {
        if (auto self = weak.lock()) self->onClient(std::move(got));
      });
    });
  }

  void onClient(Result<std::string> got) {
    if (!socket_) return;
    if (!got) return end("");
    if (got->empty()) {
      ::shutdown(socket_.get(), SHUT_WR);
      return;
    }
    pending_ += *got;
    writePending();
  }

  void writePending() {
    while (!pending_.empty()) {
      const ssize_t n = ::send(socket_.get(), pending_.data(), pending_.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EAGAIN) return interest();
      if (n <= 0) return end("");
      pending_.erase(0, static_cast<size_t>(n));
    }
    interest();
    readClient();
  }

  void end(std::string why) {
    if (socket_) loop_.forget(socket_.get());
    socket_.reset();
    if (ended_) std::exchange(ended_, nullptr)(std::move(why));
    client_.reset();
  }

  FdLoop& loop_;
  std::unique_ptr<net::ByteStream> client_;
  UniqueFn<void(std::string)> ended_;
  UniqueFd socket_;
  std::string pending_;
  bool writing_ = false, podDone_ = false;
};

}  // namespace

void startForward(FdLoop& loop, int64_t pid, uint16_t port, std::unique_ptr<net::ByteStream> client,
                  UniqueFn<void(std::string)> ended) {
  auto pump = std::make_shared<ForwardPump>(loop, std::move(client), std::move(ended));
  loop.post([pump, pid, port] { pump->begin(pid, port); });
}

}  // namespace mangrove::runtime
