#pragma once
// WebSocket (RFC 6455) as bytes, without any socket: a reader that takes what has arrived, a writer
// that gives what to send. Internal to net/ (and its fuzz target).
//
//   FrameReader reader(kMiB.v);
//   reader.add(bytes);
//   while (auto frame = reader.next()) …          // reader.error() tells why it stopped for good
//
// Server side only: frames that come must be masked, frames that go are not.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mangrove::net {

enum class WsOpcode : uint8_t {
  kContinuation = 0,
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10
};

struct WsFrame {
  WsOpcode opcode = WsOpcode::kBinary;
  bool last = true;  // FIN
  std::string payload;
};

// What closes a connection and what the peer is told.
struct WsError {
  uint16_t code = 1002;
  std::string sentence;
};

class FrameReader {
 public:
  // `limit`: the largest payload of one frame.
  explicit FrameReader(size_t limit) : limit_(limit) {}
  void add(std::string_view bytes) { buffer_ += bytes; }
  // nullopt: more bytes are needed, or error().
  std::optional<WsFrame> next();
  const std::optional<WsError>& error() const { return error_; }
  size_t buffered() const { return buffer_.size() - at_; }

 private:
  struct Head;
  std::optional<Head> head();
  std::optional<WsFrame> refuse(uint16_t code, std::string sentence);

  const size_t limit_;
  std::string buffer_;
  size_t at_ = 0;  // consumed of buffer_
  std::optional<WsError> error_;
};

// An unmasked frame with FIN.
std::string wsFrame(WsOpcode opcode, std::string_view payload);
// The payload of a close frame.
std::string wsCloseBody(uint16_t code, std::string_view reason);

// Sec-WebSocket-Accept for a Sec-WebSocket-Key.
std::string wsAcceptKey(std::string_view key);
}  // namespace mangrove::net
