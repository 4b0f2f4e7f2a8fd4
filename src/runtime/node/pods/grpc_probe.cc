#include "runtime/node/pods/grpc_probe.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/os/fd.h"

namespace mangrove::runtime {

namespace {

constexpr int kUnimplemented = 12;
constexpr size_t kRead = 16 * 1024;

// One check over one connection. Everything but the constructor runs on the loop's thread.
class HealthCheck : public std::enable_shared_from_this<HealthCheck> {
 public:
  HealthCheck(FdLoop& loop, UniqueFd socket, std::function<void(ActionResult)> done)
      : loop_(loop), socket_(std::move(socket)), done_(std::move(done)) {}

  void begin(const std::string& authority, const std::string& service) {
    id_ = wire_.request(authority, "/grpc.health.v1.Health/Check", healthRequest(service));
    out_ = wire_.take();
    loop_.watch(socket_.get(), EPOLLOUT | EPOLLIN,
                [self = shared_from_this()](uint32_t) { self->ready(); });
  }

  void end() {
    done_ = nullptr;
    if (!socket_) return;
    loop_.forget(socket_.get());
    socket_.reset();
  }

 private:
  void ready() {
    auto keep = shared_from_this();
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return finish({false, fmt::format("connect: {}", std::strerror(error))});
    const bool open = receive();
    if (wire_.stream(id_).isOver() || !open) return finish(judgeHealth(wire_.replyTo(id_)));
    send();
  }

  // False: nothing will come any more.
  bool receive() {
    char buffer[kRead];
    for (;;) {
      const ssize_t n = ::recv(socket_.get(), buffer, sizeof buffer, 0);
      if (n < 0) return errno == EAGAIN || errno == EINTR || errno == ENOTCONN;
      if (n == 0 || !wire_.give({buffer, static_cast<size_t>(n)})) return false;
      out_ += wire_.take();
    }
  }

  void send() {
    while (!out_.empty()) {
      const ssize_t n = ::send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
      if (n <= 0) break;
      out_.erase(0, static_cast<size_t>(n));
    }
    loop_.change(socket_.get(), out_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
  }

  void finish(ActionResult result) {
    auto done = std::exchange(done_, nullptr);
    end();
    if (done) done(std::move(result));
  }

  FdLoop& loop_;
  UniqueFd socket_;
  std::function<void(ActionResult)> done_;
  net::GrpcWire wire_{net::GrpcWire::Side::kClient};
  int32_t id_ = 0;
  std::string out_;
};

const char* statusName(unsigned value) {
  constexpr const char* kNames[] = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};
  return value < std::size(kNames) ? kNames[value] : "UNKNOWN";
}

}  // namespace

std::string healthRequest(std::string_view service) {
  if (service.empty()) return "";
  std::string out = "\x0a";
  size_t size = service.size();
  for (; size >= 0x80; size >>= 7) out += static_cast<char>(0x80 | (size & 0x7f));
  out += static_cast<char>(size);
  return out.append(service);
}

ActionResult judgeHealth(const Result<net::GrpcReply>& reply) {
  if (!reply) return {false, "error: health rpc failed: " + reply.error().text()};
  if (reply->status == kUnimplemented)
    return {false,
            "error: this server does not implement the grpc health protocol "
            "(grpc.health.v1.Health): " +
                reply->text};
  if (reply->status != 0)
    return {false,
            fmt::format("error: health rpc failed with status {}: {}", reply->status, reply->text)};
  // A message without its one field says UNKNOWN.
  const std::string& m = reply->message;
  const unsigned value = m.size() >= 2 && m[0] == 0x08 ? static_cast<unsigned char>(m[1]) : 0;
  if (value == 1) return {true, ""};
  return {false, fmt::format("service unhealthy (responded with \"{}\")", statusName(value))};
}

Fn askHealth(FdLoop& loop, const sockaddr_in& address, const std::string& authority,
             const std::string& service, std::function<void(ActionResult)> done) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int rc =
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (rc < 0 && errno != EINPROGRESS) {
    const std::string why = fmt::format("connect: {}", std::strerror(errno));
    loop.post([done = std::move(done), why] { done({false, why}); });
    return [] {};
  }
  auto check = std::make_shared<HealthCheck>(loop, std::move(socket), std::move(done));
  loop.post([check, authority, service] { check->begin(authority, service); });
  return [&loop, check] { loop.post([check] { check->end(); }); };
}

}  // namespace mangrove::runtime
