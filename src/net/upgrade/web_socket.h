#pragma once
// The server's end of a WebSocket: whole messages both ways over a ByteStream that left HTTP. Pings
// are answered, the closing handshake is kept, what a peer may make us hold is bounded both ways.
//
//   auto head = wsHandshake(exchange->request(), {"v5.channel.k8s.io"});
//   exchange->upgrade(*head, …);
//   auto socket = WebSocket::over(std::move(stream), "v5.channel.k8s.io", {});
//   socket->read([&](Result<std::optional<WsMessage>> got) { … });     // one read at a time
//   socket->write("\x01hello");
//
// Any thread may call. Callbacks run on an I/O thread, or inside read() when a message has already
// come. Destroying it closes the connection properly (code 1000) in the background; no callback
// begins after that. Nothing is read from the connection, pings included, while nobody waits in
// read(): that is how a fast sender is slowed down.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fn.h"
#include "base/number/units.h"
#include "base/result.h"
#include "net/http/http.h"
#include "net/upgrade/byte_stream.h"

namespace mangrove::net {

// True when the request asks for a WebSocket at all.
bool wantsWebSocket(const HttpRequest& request);
// The 101 with the first of `known` (the server's order of preference) that the client offers; a
// client that offers none gets none. Fails with a sentence for what no WebSocket client sends, and
// with kUnsupported when nothing offered is known.
Result<HttpResponse> wsHandshake(const HttpRequest& request,
                                 const std::vector<std::string_view>& known);

struct WsMessage {
  bool text = false;
  std::string data;
};

struct WebSocketOptions {
  Bytes maxMessage = kMiB * 1;  // of one message that comes; more closes with 1009
  Bytes maxQueued = kMiB * 16;  // unsent; more drops the connection
  Duration closeTimeout = std::chrono::seconds(5);  // for the peer's half of the closing handshake
  Clock* clock = nullptr;                           // null: realClock()
};

class WebSocket {
 public:
  static std::unique_ptr<WebSocket> over(std::unique_ptr<ByteStream> stream, std::string protocol,
                                         WebSocketOptions options);
  ~WebSocket();

  const std::string& protocol() const;  // the one agreed on; "" for none
  // nullopt: the peer closed properly, no more comes.
  using ReadDone = UniqueFn<void(Result<std::optional<WsMessage>>)>;
  void read(ReadDone done);
  // A binary message. False when the connection is closed, or was dropped now because the peer is
  // too slow.
  bool write(std::string_view data);
  bool writeText(std::string_view data);  // the same as a message of text
  Bytes queued() const;
  // Runs each time everything written has left.
  void onDrained(Fn fn);
  // Sends what is queued, then the close frame. Further writes are refused.
  void close(uint16_t code = 1000, std::string_view reason = "");

 private:
  class Core;
  explicit WebSocket(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;
};

// A WebSocket as a stream of bytes: each message that comes is read as its payload, each write is
// one binary message. What kubectl's port-forward tunnels SPDY through.
std::unique_ptr<ByteStream> tunnelOver(std::unique_ptr<WebSocket> socket);

}  // namespace mangrove::net
