#pragma once
// A client's end of a WebSocket for tests: opens it with plain HTTP, sends masked frames, reads
// what comes.

#include <optional>
#include <string>
#include <string_view>

#include "net/test_support.h"
#include "net/upgrade/web_socket_wire.h"

namespace mangrove::net::testing {

inline std::string maskedFrame(WsOpcode opcode, std::string_view payload, bool last = true) {
  const std::string mask = "\x11\x22\x33\x44";
  std::string plain = wsFrame(opcode, payload);
  const size_t head = plain.size() - payload.size();
  std::string out = plain.substr(0, head);
  if (!last) out[0] = static_cast<char>(out[0] & 0x7f);
  out[1] = static_cast<char>(out[1] | 0x80);
  out += mask;
  for (size_t i = 0; i < payload.size(); ++i) out += static_cast<char>(payload[i] ^ mask[i % 4]);
  return out;
}

inline HttpRequest openingRequest(std::string target, std::string protocol) {
  HttpRequest request{"GET", std::move(target), {}, "", {}};
  request.headers.set("Connection", "Upgrade");
  request.headers.set("Upgrade", "websocket");
  request.headers.set("Sec-WebSocket-Version", "13");
  request.headers.set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
  if (!protocol.empty()) request.headers.set("Sec-WebSocket-Protocol", protocol);
  return request;
}

// Blocking; everything gives up after kPatience.
class WsTestClient {
 public:
  explicit WsTestClient(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  static Result<Upgraded> open(HttpClient& client, HttpRequest request) {
    std::promise<Result<Upgraded>> done;
    client.upgrade(std::move(request), {}, [&](auto r) { done.set_value(std::move(r)); });
    auto future = done.get_future();
    return await(future);
  }

  void send(WsOpcode opcode, std::string_view payload) {
    stream_->write(maskedFrame(opcode, payload), {});
  }
  void sendRaw(std::string bytes) { stream_->write(std::move(bytes), {}); }

  // The next frame of any kind; nullopt at the end of the connection.
  std::optional<WsFrame> next() {
    for (;;) {
      if (auto frame = take()) return frame;
      std::promise<std::string> done;
      stream_->read([&](Result<std::string> got) { done.set_value(got ? *got : ""); });
      auto future = done.get_future();
      std::string bytes = await(future);
      if (bytes.empty()) return std::nullopt;
      in_ += bytes;
    }
  }

 private:
  // Server frames carry no mask.
  std::optional<WsFrame> take() {
    auto byte = [&](size_t i) { return static_cast<unsigned char>(in_[i]); };
    if (in_.size() < 2) return std::nullopt;
    size_t length = byte(1), head = 2;
    const size_t extra = length == 126 ? 2 : length == 127 ? 8 : 0;
    if (in_.size() < head + extra) return std::nullopt;
    if (extra) length = 0;
    for (size_t i = 0; i < extra; ++i) length = length << 8 | byte(head + i);
    head += extra;
    if (in_.size() < head + length) return std::nullopt;
    WsFrame frame{static_cast<WsOpcode>(byte(0) & 0x0f), (byte(0) & 0x80) != 0,
                  in_.substr(head, length)};
    in_.erase(0, head + length);
    return frame;
  }

  std::unique_ptr<ByteStream> stream_;
  std::string in_;
};

}  // namespace mangrove::net::testing
