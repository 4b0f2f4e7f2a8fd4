#include "net/upgrade/web_socket_wire.h"

#include <fmt/core.h>
#include <openssl/sha.h>

#include "base/text/encoding.h"
#include "base/text/strings.h"
#include "net/upgrade/web_socket.h"

namespace mangrove::net {

namespace {

constexpr std::string_view kKeySuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455, 1.3
constexpr size_t kMaxControl = 125;  // payload of a control frame
constexpr size_t kKeyBytes = 16;

uint64_t bigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (unsigned char c : bytes) value = value << 8 | c;
  return value;
}

void appendBigEndian(std::string& out, uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out += static_cast<char>(value >> shift);
}

bool isControl(WsOpcode opcode) {
  return static_cast<uint8_t>(opcode) >= 8;
}

bool isKnown(WsOpcode opcode) {
  const auto code = static_cast<uint8_t>(opcode);
  return code <= 2 || (code >= 8 && code <= 10);
}

void unmask(std::string& payload, std::string_view mask) {
  for (size_t i = 0; i < payload.size(); ++i)
    payload[i] = static_cast<char>(payload[i] ^ mask[i % 4]);
}

std::vector<std::string_view> offeredProtocols(const Headers& headers) {
  std::vector<std::string_view> offered;
  for (const auto& [name, value] : headers.fields()) {
    if (!equalIgnoringCase(name, "Sec-WebSocket-Protocol")) continue;
    for (auto one : splitTrimmed(value, ',')) offered.push_back(one);
  }
  return offered;
}

Result<> checkOpening(const HttpRequest& request) {
  if (request.method != "GET")
    return invalid("a WebSocket is opened with GET, not {}", request.method);
  if (request.headers.get("Sec-WebSocket-Version") != "13")
    return invalid("Sec-WebSocket-Version '{}': want 13",
                   request.headers.get("Sec-WebSocket-Version"));
  auto key = base64Decode(request.headers.get("Sec-WebSocket-Key"));
  if (!key || key->size() != kKeyBytes)
    return invalid("Sec-WebSocket-Key '{}': want 16 bytes in base64",
                   request.headers.get("Sec-WebSocket-Key"));
  return {};
}

}  // namespace

struct FrameReader::Head {
  WsOpcode opcode;
  bool last;
  bool reserved;
  bool masked;
  uint64_t length;
  size_t size;  // of the head itself, with the mask
};

std::optional<FrameReader::Head> FrameReader::head() {
  const std::string_view in = std::string_view(buffer_).substr(at_);
  if (in.size() < 2) return std::nullopt;
  const auto first = static_cast<unsigned char>(in[0]), second = static_cast<unsigned char>(in[1]);
  Head head{static_cast<WsOpcode>(first & 0x0f),
            (first & 0x80) != 0,
            (first & 0x70) != 0,
            (second & 0x80) != 0,
            static_cast<uint64_t>(second & 0x7f),
            2};
  const size_t extra = head.length == 126 ? 2 : head.length == 127 ? 8 : 0;
  if (in.size() < 2 + extra) return std::nullopt;
  if (extra > 0) head.length = bigEndian(in.substr(2, extra));
  head.size += extra + (head.masked ? 4 : 0);
  return head;
}

std::optional<WsFrame> FrameReader::refuse(uint16_t code, std::string sentence) {
  error_ = WsError{code, std::move(sentence)};
  return std::nullopt;
}

std::optional<WsFrame> FrameReader::next() {
  if (error_) return std::nullopt;
  const auto head = this->head();
  if (!head) return std::nullopt;
  if (head->reserved || !isKnown(head->opcode)) return refuse(1002, "a frame of an unknown kind");
  if (!head->masked) return refuse(1002, "a frame without a mask");
  if (isControl(head->opcode) && (head->length > kMaxControl || !head->last))
    return refuse(1002, "a control frame that is too long or in pieces");
  if (head->length > limit_)
    return refuse(1009,
                  fmt::format("a frame of {} bytes; at most {} are taken", head->length, limit_));
  if (buffer_.size() - at_ < head->size + head->length) return std::nullopt;
  WsFrame frame{head->opcode, head->last,
                buffer_.substr(at_ + head->size, static_cast<size_t>(head->length))};
  unmask(frame.payload, std::string_view(buffer_).substr(at_ + head->size - 4, 4));
  at_ += head->size + static_cast<size_t>(head->length);
  if (at_ == buffer_.size() || at_ > 64 * 1024) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  return frame;
}

std::string wsFrame(WsOpcode opcode, std::string_view payload) {
  std::string out;
  out.reserve(payload.size() + 10);
  out += static_cast<char>(0x80 | static_cast<uint8_t>(opcode));
  if (payload.size() < 126) {
    out += static_cast<char>(payload.size());
  } else if (payload.size() <= 0xffff) {
    out += static_cast<char>(126);
    appendBigEndian(out, payload.size(), 2);
  } else {
    out += static_cast<char>(127);
    appendBigEndian(out, payload.size(), 8);
  }
  out += payload;
  return out;
}

std::string wsCloseBody(uint16_t code, std::string_view reason) {
  std::string body;
  appendBigEndian(body, code, 2);
  body += reason.substr(0, kMaxControl - 2);
  return body;
}

std::string wsAcceptKey(std::string_view key) {
  const std::string text = std::string(key) + std::string(kKeySuffix);
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return base64Encode({reinterpret_cast<const char*>(digest), sizeof digest});
}

bool wantsWebSocket(const HttpRequest& request) {
  return request.headers.hasToken("Connection", "upgrade") &&
         request.headers.hasToken("Upgrade", "websocket");
}

Result<HttpResponse> wsHandshake(const HttpRequest& request,
                                 const std::vector<std::string_view>& known) {
  if (auto ok = checkOpening(request); !ok) return pass(ok.error());
  HttpResponse response{101, {{"Upgrade", "websocket"}, {"Connection", "Upgrade"}}, ""};
  response.headers.set("Sec-WebSocket-Accept",
                       wsAcceptKey(request.headers.get("Sec-WebSocket-Key")));
  const auto offered = offeredProtocols(request.headers);
  for (auto one : known) {
    for (auto theirs : offered) {
      if (one != theirs) continue;
      response.headers.set("Sec-WebSocket-Protocol", one);
      return response;
    }
  }
  if (offered.empty()) return response;
  return fail(Code::kUnsupported, "none of the protocols {} is known here; want one of {}",
              join(offered, ", "), join(known, ", "));
}

}  // namespace mangrove::net
