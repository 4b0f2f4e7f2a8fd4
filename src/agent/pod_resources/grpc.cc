#include "agent/pod_resources/grpc.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include <fcntl.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strings.h"

namespace mangrove::agent {
namespace {

constexpr size_t kPrefix = 5;  // of a message: compressed or not, and its length
constexpr size_t kLongestMessage = 64 * 1024 * 1024;

std::string framed(const GrpcReply& reply) {
  std::string out(1, reply.compressed ? '\1' : '\0');
  const auto size = static_cast<uint32_t>(reply.message.size());
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift);
  return out + reply.message;
}

// The one message of a body; false when it is not exactly one.
bool unframe(const std::string& body, GrpcReply& out) {
  if (body.size() < kPrefix) return false;
  uint32_t size = 0;
  for (size_t i = 1; i < kPrefix; ++i) size = size << 8 | static_cast<uint8_t>(body[i]);
  if (body.size() != kPrefix + size) return false;
  out.compressed = body[0] == 1;
  out.message = body.substr(kPrefix);
  return true;
}

struct Stream {
  std::string method, body;  // received
  int status = 14;           // gRPC's, from the trailers
  std::string text;
  bool complete = false, closed = false;
  std::string out;  // to be sent
  size_t sent = 0;
  std::vector<std::pair<std::string, std::string>> trailers;  // after `out`; server only
};

nghttp2_nv field(const std::string& name, const std::string& value) {
  const auto bytes = [](const std::string& s) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(s.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

// Views into the list, which nghttp2 copies when it is submitted.
std::vector<nghttp2_nv> fields(const std::vector<std::pair<std::string, std::string>>& list) {
  std::vector<nghttp2_nv> out;
  for (const auto& [name, value] : list) out.push_back(field(name, value));
  return out;
}

class Http2 {
 public:
  Http2(UniqueFd socket, bool server) : socket_(std::move(socket)) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onClose);
    if (server)
      nghttp2_session_server_new(&session_, callbacks, this);
    else
      nghttp2_session_client_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  ~Http2() { nghttp2_session_del(session_); }
  Http2(const Http2&) = delete;
  Http2& operator=(const Http2&) = delete;

  std::map<int32_t, Stream>& streams() { return streams_; }

  int32_t request(const std::string& method, std::string body) {
    const std::vector<std::pair<std::string, std::string>> head = {
        {":method", "POST"},         {":scheme", "http"}, {":path", method},
        {":authority", "localhost"}, {"te", "trailers"},  {"content-type", "application/grpc"},
        {"user-agent", "koordlet"}};
    const auto list = fields(head);
    nghttp2_data_provider provider{};
    provider.read_callback = readBody;
    const int32_t id =
        nghttp2_submit_request(session_, nullptr, list.data(), list.size(), &provider, nullptr);
    if (id >= 0) streams_[id].out = std::move(body);
    return id;
  }

  void respond(int32_t id, const GrpcReply& reply) {
    Stream& stream = streams_[id];
    stream.out = reply.status == 0 ? framed(reply) : "";
    stream.trailers = {{"grpc-status", std::to_string(reply.status)}};
    if (!reply.text.empty()) stream.trailers.emplace_back("grpc-message", reply.text);
    const std::vector<std::pair<std::string, std::string>> head = {
        {":status", "200"}, {"content-type", "application/grpc"}};
    const auto list = fields(head);
    nghttp2_data_provider provider{};
    provider.read_callback = readBody;
    nghttp2_submit_response(session_, id, list.data(), list.size(), &provider);
  }

  // Sends what there is, waits for the peer until `deadline`; false when the connection is over.
  bool pump(MonoTime deadline, int stop) {
    if (!flush()) return false;
    if (!nghttp2_session_want_read(session_) && !nghttp2_session_want_write(session_)) return false;
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
  static Http2& self(void* user) { return *static_cast<Http2*>(user); }

  static int onHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t nameSize, const uint8_t* value, size_t valueSize, uint8_t,
                      void* user) {
    const std::string_view key(reinterpret_cast<const char*>(name), nameSize);
    const std::string_view text(reinterpret_cast<const char*>(value), valueSize);
    Stream& stream = self(user).streams_[frame->hd.stream_id];
    if (key == ":path") stream.method = text;
    if (key == "grpc-status") stream.status = parseInt<int>(text).value_or(2);
    if (key == "grpc-message") stream.text = text;
    return 0;
  }
  static int onData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* user) {
    std::string& body = self(user).streams_[id].body;
    if (body.size() + size > kLongestMessage) return NGHTTP2_ERR_CALLBACK_FAILURE;
    body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int onFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    const bool body = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (body && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
      self(user).streams_[frame->hd.stream_id].complete = true;
    return 0;
  }
  static int onClose(nghttp2_session*, int32_t id, uint32_t, void* user) {
    self(user).streams_[id].closed = true;
    return 0;
  }
  static ssize_t readBody(nghttp2_session* session, int32_t id, uint8_t* buffer, size_t size,
                          uint32_t* flags, nghttp2_data_source*, void* user) {
    Stream& stream = self(user).streams_[id];
    const size_t count = std::min(size, stream.out.size() - stream.sent);
    std::memcpy(buffer, stream.out.data() + stream.sent, count);
    stream.sent += count;
    if (stream.sent < stream.out.size()) return static_cast<ssize_t>(count);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (stream.trailers.empty()) return static_cast<ssize_t>(count);
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const auto list = fields(stream.trailers);
    nghttp2_submit_trailer(session, id, list.data(), list.size());
    return static_cast<ssize_t>(count);
  }

  bool flush() {
    for (;;) {
      const uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size < 0) return false;
      if (size == 0) return true;
      for (ssize_t sent = 0; sent < size;) {
        const ssize_t n =
            ::send(socket_.get(), data + sent, static_cast<size_t>(size - sent), MSG_NOSIGNAL);
        if (n <= 0) return false;
        sent += n;
      }
    }
  }
  bool receive() {
    uint8_t buffer[16 * 1024];
    const ssize_t size = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    return size > 0 &&
           nghttp2_session_mem_recv(session_, buffer, static_cast<size_t>(size)) == size;
  }

  UniqueFd socket_;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, Stream> streams_;
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

Result<GrpcReply> grpcCall(const std::string& socketPath, const std::string& method,
                           const std::string& message, Duration timeout) {
  auto address = addressOf(socketPath);
  if (!address) return pass(address.error());
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return failErrno(errno, "socket");
  limitWaiting(socket.get(), timeout);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
    return failErrno(errno, "connect " + socketPath);
  Http2 connection(std::move(socket), false);
  const int32_t id = connection.request(method, framed({.message = message}));
  if (id < 0) return fail(Code::kUnavailable, "{}: {}", method, nghttp2_strerror(id));
  const MonoTime deadline = realClock().mono() + timeout;
  const Stream& stream = connection.streams()[id];
  while (!stream.complete && !stream.closed && connection.pump(deadline, -1)) {
  }
  if (!stream.complete)
    return fail(Code::kUnavailable, "{}: no answer from {}", method, socketPath);
  GrpcReply reply;
  reply.status = stream.status;
  reply.text = stream.text;
  if (reply.status == 0 && !unframe(stream.body, reply))
    return fail(Code::kUnavailable, "{}: an answer that is not one message", method);
  return reply;
}

void grpcServe(UniqueFd socket, const GrpcHandler& handler, int stop) {
  constexpr Duration kIdle = std::chrono::minutes(10);
  limitWaiting(socket.get(), std::chrono::seconds(10));
  Http2 connection(std::move(socket), true);
  while (connection.pump(realClock().mono() + kIdle, stop)) {
    for (auto it = connection.streams().begin(); it != connection.streams().end();) {
      Stream& stream = it->second;
      if (stream.complete && stream.trailers.empty()) {
        GrpcReply request;
        connection.respond(it->first, unframe(stream.body, request)
                                          ? handler(stream.method, request.message)
                                          : GrpcReply{{}, false, 3, "not one message"});
      }
      it = stream.closed ? connection.streams().erase(it) : std::next(it);
    }
  }
}

Result<UniqueFd> listenUnix(const std::string& path) {
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

}  // namespace mangrove::agent
