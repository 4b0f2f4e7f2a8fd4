#include "net/socket.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace mangrove::net {
namespace {

constexpr int kBacklog = 1024;
constexpr int kProbeAfterSeconds = 30;
constexpr int kProbeEverySeconds = 10;
constexpr int kProbes = 3;

union Address {
  sockaddr generic;
  sockaddr_in v4;
  sockaddr_in6 v6;
  sockaddr_un local;
  sockaddr_storage storage;
};

Result<socklen_t> fill(Address& to, const std::string& address, uint16_t port) {
  std::memset(&to, 0, sizeof to);
  if (::inet_pton(AF_INET, address.c_str(), &to.v4.sin_addr) == 1) {
    to.v4.sin_family = AF_INET;
    to.v4.sin_port = htons(port);
    return sizeof to.v4;
  }
  if (::inet_pton(AF_INET6, address.c_str(), &to.v6.sin6_addr) == 1) {
    to.v6.sin6_family = AF_INET6;
    to.v6.sin6_port = htons(port);
    return sizeof to.v6;
  }
  return invalid("'{}' is no IP address to listen on", address);
}

Result<socklen_t> fillUnix(Address& to, const std::string& path) {
  if (path.empty() || path.size() > kMaxUnixPath)
    return invalid("socket file name has {} characters: want 1 to {}", path.size(), kMaxUnixPath);
  std::memset(&to, 0, sizeof to);
  to.local.sun_family = AF_UNIX;
  path.copy(to.local.sun_path, path.size());
  return sizeof to.local;
}

Result<UniqueFd> open(int family) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return failErrno(errno, "socket");
  return fd;
}

std::string peerText(const Address& from) {
  char text[INET6_ADDRSTRLEN] = "";
  if (from.generic.sa_family == AF_INET) {
    ::inet_ntop(AF_INET, &from.v4.sin_addr, text, sizeof text);
    return fmt::format("{}:{}", text, ntohs(from.v4.sin_port));
  }
  if (from.generic.sa_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &from.v6.sin6_addr, text, sizeof text);
    return fmt::format("[{}]:{}", text, ntohs(from.v6.sin6_port));
  }
  return "unix";
}

bool somebodyListens(const Address& address, socklen_t size) {
  auto probe = open(AF_UNIX);
  return probe && ::connect(probe->get(), &address.generic, size) == 0;
}

// What a server that crashed leaves behind would keep its successor from starting.
Result<> removeStale(const std::string& path, const Address& address, socklen_t size) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode))
    return fail(Code::kExists, "{} exists and is no socket; it is left alone", path);
  if (somebodyListens(address, size))
    return fail(Code::kExists, "another process listens on {}", path);
  if (::unlink(path.c_str()) != 0) return failErrno(errno, "removing the stale " + path);
  return {};
}

}  // namespace

void tuneSocket(int fd) {
  auto set = [fd](int level, int option, int value) {
    ::setsockopt(fd, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kProbeAfterSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kProbeEverySeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

Result<UniqueFd> listenTcp(const std::string& address, uint16_t port) {
  Address to;
  auto size = fill(to, address, port);
  if (!size) return pass(size.error());
  auto fd = open(to.generic.sa_family);
  if (!fd) return fd;
  int on = 1;
  ::setsockopt(fd->get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd->get(), &to.generic, *size) != 0 || ::listen(fd->get(), kBacklog) != 0)
    return failErrno(errno, fmt::format("listening on {} port {}", address, port));
  return fd;
}

Result<UniqueFd> listenUnix(const std::string& path) {
  Address to;
  auto size = fillUnix(to, path);
  if (!size) return pass(size.error());
  if (auto ok = removeStale(path, to, *size); !ok) return pass(ok.error());
  auto fd = open(AF_UNIX);
  if (!fd) return fd;
  // Between bind and chmod nobody can connect, because listen comes last.
  if (::bind(fd->get(), &to.generic, *size) != 0 || ::chmod(path.c_str(), 0600) != 0 ||
      ::listen(fd->get(), kBacklog) != 0)
    return failErrno(errno, "listening on " + path);
  return fd;
}

uint16_t localPort(int fd) {
  Address at;
  socklen_t size = sizeof at;
  if (::getsockname(fd, &at.generic, &size) != 0) return 0;
  if (at.generic.sa_family == AF_INET) return ntohs(at.v4.sin_port);
  return at.generic.sa_family == AF_INET6 ? ntohs(at.v6.sin6_port) : 0;
}

Result<Accepted> acceptOne(int listener) {
  Address from;
  socklen_t size = sizeof from;
  UniqueFd fd(::accept4(listener, &from.generic, &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd) return Failure(Error(Code::kIo, std::strerror(errno), errno));
  if (from.generic.sa_family != AF_UNIX) tuneSocket(fd.get());
  return Accepted{std::move(fd), peerText(from)};
}

}  // namespace mangrove::net
