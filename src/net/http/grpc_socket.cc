#include "net/http/grpc_socket.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/http/grpc_wire.h"

namespace mangrove::net {
namespace {

// The wire and its socket.
class Connection {
 public:
  Connection(UniqueFd socket, GrpcWire::Side side) : socket_(std::move(socket)), wire_(side) {}

  GrpcWire& wire() { return wire_; }

  // Sends what there is, waits for the peer until `deadline`; false when the connection is over.
  bool pump(MonoTime deadline, int stop) {
    if (!flush() || wire_.isFinished()) return false;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - realClock().mono());
    if (left.count() <= 0) return false;
    pollfd fds[2] = {{socket_.get(), POLLIN, 0}, {stop, POLLIN, 0}};
    const int ready =
        ::poll(fds, stop >= 0 ? 2 : 1, static_cast<int>(std::min<int64_t>(left.count(), 60000)));
    if (ready < 0) return errno == EINTR;
    if (stop >= 0 && fds[1].revents != 0) return false;
    return ready == 0 || receive();
  }

 private:
  bool flush() {
    const std::string bytes = wire_.take();
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t n =
          ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<size_t>(n);
    }
    return true;
  }
  bool receive() {
    char buffer[16 * 1024];
    const ssize_t size = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    return size > 0 && wire_.give({buffer, static_cast<size_t>(size)});
  }

  UniqueFd socket_;
  GrpcWire wire_;
};

Result<sockaddr_un> addressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return invalid("socket '{}': a path has at most {} characters", path,
                   sizeof address.sun_path - 1);
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// A peer that takes nothing is not waited for for ever.
void limitWaiting(int fd, Duration timeout) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(timeout).count();
  const timeval limit{us / 1000000, us % 1000000};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

}  // namespace

Result<UniqueFd> connectUnix(const std::string& path) {
  auto address = addressOf(path);
  if (!address) return pass(address.error());
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return failErrno(errno, "socket");
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
    return failErrno(errno, "connect " + path);
  return socket;
}

Result<GrpcReply> grpcCall(const std::string& socketPath, const std::string& method,
                           const std::string& message, Duration timeout) {
  auto socket = connectUnix(socketPath);
  if (!socket) return pass(socket.error());
  limitWaiting(socket->get(), timeout);
  Connection connection(std::move(*socket), GrpcWire::Side::kClient);
  const int32_t id = connection.wire().request("localhost", method, message);
  if (id < 0) return fail(Code::kUnavailable, "{}: {} takes no calls", method, socketPath);
  const MonoTime deadline = realClock().mono() + timeout;
  const GrpcStream& stream = connection.wire().stream(id);
  while (!stream.isOver() && connection.pump(deadline, -1)) {
  }
  auto reply = connection.wire().replyTo(id);
  if (!reply) return reply.error().in("{} at {}", method, socketPath);
  return reply;
}

void grpcServe(UniqueFd socket, const GrpcHandler& handler, int stop) {
  constexpr Duration kIdle = std::chrono::minutes(10);
  limitWaiting(socket.get(), std::chrono::seconds(10));
  Connection connection(std::move(socket), GrpcWire::Side::kServer);
  auto& streams = connection.wire().streams();
  while (connection.pump(realClock().mono() + kIdle, stop)) {
    for (auto it = streams.begin(); it != streams.end();) {
      GrpcStream& stream = it->second;
      std::string message;
      if (stream.complete && stream.trailers.empty())
        connection.wire().respond(it->first, GrpcWire::messageOf(stream, message)
                                                 ? handler(stream.method, message)
                                                 : GrpcReply{{}, false, 3, "not one message"});
      it = stream.closed ? streams.erase(it) : std::next(it);
    }
  }
}

Result<UniqueFd> listenGrpc(const std::string& path) {
  auto address = addressOf(path);
  if (!address) return pass(address.error());
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return failErrno(errno, "socket");
  ::unlink(path.c_str());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
    return failErrno(errno, "bind " + path);
  if (::listen(socket.get(), 16) != 0) return failErrno(errno, "listen " + path);
  return socket;
}

}  // namespace mangrove::net
