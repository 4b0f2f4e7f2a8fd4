#include "net/http/grpc_wire.h"

#include <algorithm>
#include <cstring>

#include <nghttp2/nghttp2.h>

#include "base/text/encoding.h"
#include "base/text/strings.h"

namespace mangrove::net {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr size_t kPrefix = 5;  // of a message: compressed or not, and its length
constexpr size_t kLongestMessage = 64 * 1024 * 1024;

std::string framed(std::string_view message, bool compressed) {
  std::string out(1, compressed ? '\1' : '\0');
  const auto size = static_cast<uint32_t>(message.size());
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift);
  return out.append(message);
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

nghttp2_nv field(const std::string& name, const std::string& value) {
  const auto bytes = [](const std::string& s) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(s.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

// Views into the list, which nghttp2 copies when it is submitted.
std::vector<nghttp2_nv> views(const Fields& list) {
  std::vector<nghttp2_nv> out;
  for (const auto& [name, value] : list) out.push_back(field(name, value));
  return out;
}

}  // namespace

struct GrpcWire::Session {
  nghttp2_session* h2 = nullptr;
  std::map<int32_t, GrpcStream> streams;

  explicit Session(Side side) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onClose);
    if (side == Side::kServer)
      nghttp2_session_server_new(&h2, callbacks, this);
    else
      nghttp2_session_client_new(&h2, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(h2, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  ~Session() { nghttp2_session_del(h2); }

  static Session& self(void* user) { return *static_cast<Session*>(user); }

  static int onHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t nameSize, const uint8_t* value, size_t valueSize, uint8_t,
                      void* user) {
    const std::string_view key(reinterpret_cast<const char*>(name), nameSize);
    const std::string_view text(reinterpret_cast<const char*>(value), valueSize);
    GrpcStream& stream = self(user).streams[frame->hd.stream_id];
    if (key == ":path") stream.method = text;
    if (key == "grpc-status") stream.status = parseInt<int>(text).value_or(2);
    if (key == "grpc-message") stream.text = percentDecode(text).value_or(std::string(text));
    return 0;
  }
  static int onData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* user) {
    std::string& body = self(user).streams[id].body;
    if (body.size() + size > kLongestMessage) return NGHTTP2_ERR_CALLBACK_FAILURE;
    body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int onFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    const bool body = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (body && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
      self(user).streams[frame->hd.stream_id].complete = true;
    return 0;
  }
  static int onClose(nghttp2_session*, int32_t id, uint32_t, void* user) {
    self(user).streams[id].closed = true;
    return 0;
  }
  static ssize_t readBody(nghttp2_session* session, int32_t id, uint8_t* buffer, size_t size,
                          uint32_t* flags, nghttp2_data_source*, void* user) {
    GrpcStream& stream = self(user).streams[id];
    const size_t count = std::min(size, stream.out.size() - stream.sent);
    // Bytes, not text. NOLINTNEXTLINE(bugprone-not-null-terminated-result)
    std::memcpy(buffer, stream.out.data() + stream.sent, count);
    stream.sent += count;
    if (stream.sent < stream.out.size()) return static_cast<ssize_t>(count);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (stream.trailers.empty()) return static_cast<ssize_t>(count);
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const auto list = views(stream.trailers);
    nghttp2_submit_trailer(session, id, list.data(), list.size());
    return static_cast<ssize_t>(count);
  }
};

GrpcWire::GrpcWire(Side side) : session_(std::make_unique<Session>(side)) {}

GrpcWire::~GrpcWire() = default;

std::map<int32_t, GrpcStream>& GrpcWire::streams() {
  return session_->streams;
}

int32_t GrpcWire::request(const std::string& authority, const std::string& method,
                          std::string message) {
  const Fields head = {{":method", "POST"},         {":scheme", "http"},
                       {":path", method},           {":authority", authority},
                       {"te", "trailers"},          {"content-type", "application/grpc"},
                       {"user-agent", "mangrove/1"}};
  const auto list = views(head);
  nghttp2_data_provider provider{};
  provider.read_callback = Session::readBody;
  const int32_t id =
      nghttp2_submit_request(session_->h2, nullptr, list.data(), list.size(), &provider, nullptr);
  if (id >= 0) session_->streams[id].out = framed(message, false);
  return id;
}

void GrpcWire::respond(int32_t id, const GrpcReply& reply) {
  GrpcStream& stream = session_->streams[id];
  stream.out = reply.status == 0 ? framed(reply.message, reply.compressed) : "";
  stream.trailers = {{"grpc-status", std::to_string(reply.status)}};
  if (!reply.text.empty()) stream.trailers.emplace_back("grpc-message", percentEncode(reply.text));
  const Fields head = {{":status", "200"}, {"content-type", "application/grpc"}};
  const auto list = views(head);
  nghttp2_data_provider provider{};
  provider.read_callback = Session::readBody;
  nghttp2_submit_response(session_->h2, id, list.data(), list.size(), &provider);
}

void GrpcWire::cancel(int32_t id) {
  nghttp2_submit_rst_stream(session_->h2, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

bool GrpcWire::messageOf(const GrpcStream& stream, std::string& message) {
  GrpcReply whole;
  if (!unframe(stream.body, whole)) return false;
  message = std::move(whole.message);
  return true;
}

Result<GrpcReply> GrpcWire::replyTo(int32_t id) {
  const GrpcStream& stream = session_->streams[id];
  if (!stream.complete) return fail(Code::kUnavailable, "the connection ended without an answer");
  GrpcReply reply;
  reply.status = stream.status;
  reply.text = stream.text;
  if (reply.status == 0 && !unframe(stream.body, reply))
    return fail(Code::kUnavailable, "the answer is not one message");
  return reply;
}

std::string GrpcWire::take() {
  std::string out;
  for (;;) {
    const uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_->h2, &data);
    if (size <= 0) return out;
    out.append(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
  }
}

bool GrpcWire::give(std::string_view bytes) {
  const ssize_t taken = nghttp2_session_mem_recv(
      session_->h2, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return taken == static_cast<ssize_t>(bytes.size());
}

bool GrpcWire::isFinished() const {
  return !nghttp2_session_want_read(session_->h2) && !nghttp2_session_want_write(session_->h2);
}

}  // namespace mangrove::net
