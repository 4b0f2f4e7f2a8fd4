#include "runtime/shim/message.h"

#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace mangrove::runtime {

namespace {

constexpr size_t kMaxFds = 4;

Result<sockaddr_un> addressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return invalid("socket path '{}' is longer than {} bytes; use a shorter data directory", path,
                   sizeof address.sun_path - 1);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Result<UniqueFd> newSocket() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return failErrno(errno, "socket");
  int size = 4 * static_cast<int>(kMaxMessage);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  return fd;
}

void takeFds(msghdr& header, std::vector<UniqueFd>& out) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      out.emplace_back(fd);
    }
  }
}

}  // namespace

std::string_view Message::word(std::string_view key) const {
  const json::Value* value = body.if_contains(key);
  return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

int64_t Message::number(std::string_view key, int64_t otherwise) const {
  const json::Value* value = body.if_contains(key);
  return value && value->is_int64() ? value->get_int64() : otherwise;
}

bool Message::flag(std::string_view key) const {
  const json::Value* value = body.if_contains(key);
  return value && value->is_bool() && value->get_bool();
}

Result<> sendMessage(int socket, const json::Object& body, const std::vector<int>& fds) {
  std::string text = json::write(body);
  if (text.size() > kMaxMessage) return invalid("a message of {} bytes", text.size());
  iovec piece{text.data(), text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(c), fds.data(), fds.size() * sizeof(int));
  }
  if (::sendmsg(socket, &header, MSG_NOSIGNAL) >= 0) return {};
  if (errno == EAGAIN) return fail(Code::kTimeout, "the other side does not read");
  return failErrno(errno, "send");
}

Result<Message> receiveMessage(int socket) {
  std::string text(kMaxMessage, '\0');
  iovec piece{text.data(), text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  if (got < 0 && errno == EAGAIN) return fail(Code::kTimeout, "nothing has come");
  if (got < 0) return failErrno(errno, "receive");
  if (got == 0) return fail(Code::kGone, "the other side has closed");
  Message message;
  takeFds(header, message.fds);
  auto value = json::parse(std::string_view(text).substr(0, static_cast<size_t>(got)));
  if (!value || !value->is_object()) return invalid("a message that is no JSON object");
  message.body = std::move(value->get_object());
  return message;
}

Result<UniqueFd> listenSeqpacket(const std::string& path) {
  auto address = addressOf(path);
  if (!address) return pass(address.error());
  auto fd = newSocket();
  if (!fd) return fd;
  ::unlink(path.c_str());
  if (::bind(fd->get(), reinterpret_cast<sockaddr*>(&*address), sizeof *address) < 0)
    return failErrno(errno, "bind " + path);
  if (::listen(fd->get(), 8) < 0) return failErrno(errno, "listen " + path);
  return fd;
}

Result<UniqueFd> connectSeqpacket(const std::string& path) {
  auto address = addressOf(path);
  if (!address) return pass(address.error());
  auto fd = newSocket();
  if (!fd) return fd;
  if (::connect(fd->get(), reinterpret_cast<sockaddr*>(&*address), sizeof *address) < 0)
    return failErrno(errno, "connect " + path);
  return fd;
}

}  // namespace mangrove::runtime
