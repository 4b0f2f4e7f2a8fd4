#include "apiserver/socket_stream.h"

#include <mutex>

#include "base/text/encoding.h"
#include "base/text/strings.h"
#include "net/upgrade/web_socket.h"

namespace mangrove::apiserver {
namespace {

constexpr std::string_view kBinary = "binary.k8s.io", kBase64 = "base64.binary.k8s.io";

enum class Pieces { kBinary, kBase64, kLines };

// Shared by the stream, which the owner holds, and the callbacks of the socket.
class SocketState : public std::enable_shared_from_this<SocketState> {
 public:
  SocketState(Mailbox& owner, bool isLines)
      : owner_(owner), pieces_(isLines ? Pieces::kLines : Pieces::kBinary) {}

  // I/O thread, once.
  void opened(std::unique_ptr<net::WebSocket> socket) {
    std::unique_lock lock(mutex_);
    if (pieces_ == Pieces::kBinary && socket->protocol() == kBase64) pieces_ = Pieces::kBase64;
    socket->onDrained([weak = weak_from_this()] { tell(weak, &SocketState::drained_); });
    for (const auto& piece : early_) send(*socket, piece);
    early_.clear();
    if (ended_) return;  // closed properly as it goes
    socket_ = std::move(socket);
    lock.unlock();
    listen();
  }

  bool write(const std::string& bytes) {
    std::lock_guard lock(mutex_);
    if (socket_) return send(*socket_, bytes);
    early_.push_back(bytes);
    return true;
  }
  Bytes queued() const {
    std::lock_guard lock(mutex_);
    if (socket_) return socket_->queued();
    Bytes sum;
    for (const auto& piece : early_) sum += Bytes{static_cast<int64_t>(piece.size())};
    return sum;
  }
  void end() {
    std::unique_ptr<net::WebSocket> gone;
    std::lock_guard lock(mutex_);
    ended_ = true;
    gone.swap(socket_);
  }
  void onClosed(Fn fn) { closed_ = std::move(fn); }  // owner thread, as firing is
  void onDrained(Fn fn) { drained_ = std::move(fn); }

 private:
  bool send(net::WebSocket& socket, const std::string& bytes) const {
    if (pieces_ == Pieces::kBinary) return socket.write(bytes);
    if (pieces_ == Pieces::kBase64) return socket.writeText(base64Encode(bytes));
    bool open = true;
    for (std::string_view line : split(bytes, '\n'))
      if (!line.empty()) open = open && socket.writeText(line);
    return open;
  }

  // Clients have nothing to say; their going is what is listened for.
  void listen() {
    std::lock_guard lock(mutex_);
    if (!socket_) return;
    socket_->read([weak = weak_from_this()](Result<std::optional<net::WsMessage>> got) {
      auto self = weak.lock();
      if (!self) return;
      if (!got || !*got) return tell(weak, &SocketState::closed_);
      self->owner_.post([weak] {
        if (auto still = weak.lock()) still->listen();
      });
    });
  }

  static void tell(const std::weak_ptr<SocketState>& weak, Fn SocketState::*which) {
    auto self = weak.lock();
    if (!self) return;
    self->owner_.post([weak, which] {
      auto state = weak.lock();
      if (state && !state->ended_ && (*state).*which) ((*state).*which)();
    });
  }

  Mailbox& owner_;
  mutable std::mutex mutex_;
  std::unique_ptr<net::WebSocket> socket_;
  std::vector<std::string> early_;
  Pieces pieces_;
  bool ended_ = false;
  Fn closed_, drained_;
};

class SocketStream final : public AnswerStream {
 public:
  explicit SocketStream(std::shared_ptr<SocketState> state) : state_(std::move(state)) {}
  ~SocketStream() override { state_->end(); }
  bool write(std::string bytes) override { return state_->write(bytes); }
  Bytes queued() const override { return state_->queued(); }
  void onClosed(Fn fn) override { state_->onClosed(std::move(fn)); }
  void onDrained(Fn fn) override { state_->onDrained(std::move(fn)); }

 private:
  std::shared_ptr<SocketState> state_;
};

}  // namespace

std::unique_ptr<AnswerStream> streamOverSocket(Mailbox& owner, net::Exchange& exchange,
                                               const Answer& head) {
  if (!net::wantsWebSocket(exchange.request())) return nullptr;
  auto handshake = net::wsHandshake(exchange.request(), {kBinary, kBase64});
  if (!handshake) return nullptr;
  std::string protocol(handshake->headers.get("Sec-WebSocket-Protocol"));
  const bool isLines = head.contentType.starts_with("application/json");
  auto state = std::make_shared<SocketState>(owner, isLines);
  if (!head.body.empty()) state->write(head.body);
  exchange.upgrade(std::move(*handshake), [state, protocol = std::move(protocol)](
                                              std::unique_ptr<net::ByteStream> stream) {
    if (stream) state->opened(net::WebSocket::over(std::move(stream), protocol, {}));
  });
  return std::make_unique<SocketStream>(std::move(state));
}

}  // namespace mangrove::apiserver
