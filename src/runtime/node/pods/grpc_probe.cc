#include "runtime/node/pods/grpc_probe.h"

#include <cerrno>

#include <fmt/core.h>
#include <sys/socket.h>

#include "base/os/fd.h"
#include "runtime/node/network/grpc_channel.h"

namespace mangrove::runtime {

namespace {

constexpr int kUnimplemented = 12;
constexpr std::string_view kConnect = "connect";  // what failed when nobody listens

Result<UniqueFd> connectTo(const sockaddr_in& address) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int rc =
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (rc < 0 && errno != EINPROGRESS) return failErrno(errno, std::string(kConnect));
  return socket;
}

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

Fn askHealth(FdLoop& loop, Clock& clock, const sockaddr_in& address, const std::string& authority,
             const std::string& service, std::function<void(ActionResult)> done) {
  auto channel =
      GrpcChannel::make(loop, clock, authority, [address] { return connectTo(address); });
  // Whoever asks has a limit of his own.
  channel->call(
      "/grpc.health.v1.Health/Check", healthRequest(service), Duration::max(),
      [channel, done = std::move(done)](Result<net::GrpcReply> reply) {
        channel->close();
        const bool answered = reply || !reply.error().sentence().starts_with(kConnect);
        done(answered ? judgeHealth(reply) : ActionResult{false, reply.error().sentence()});
      });
  return [channel] { channel->close(); };
}

}  // namespace mangrove::runtime
