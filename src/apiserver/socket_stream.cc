#include "apiserver/socket_stream.h"

#include <algorithm>
#include <mutex>

#include "base/text/encoding.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kBinary = "binary.k8s.io", kBase64 = "base64.binary.k8s.io";
constexpr size_t kMostWaiting = 16 * 1024 * 1024;  // as much as a socket may hold unsent

}  // namespace

// Shared with the callbacks of the socket, which come on I/O threads. The socket's own callbacks may
// come inside read(), so nothing is read while the lock is held.
class SocketStream::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(Mailbox& owner, Pieces pieces) : owner_(owner), pieces_(pieces) {}

  void open(std::shared_ptr<net::WebSocket> socket) {
    if (!socket) return tell(&Core::closed_);
    socket->onDrained([weak = weak_from_this()] {
      if (auto self = weak.lock()) self->tell(&Core::drained_);
    });
    {
      std::lock_guard lock(mutex_);
      send(*socket, std::exchange(waiting_, {}));
      if (over_) return;  // what was written is sent, then it closes properly
      socket_ = std::move(socket);
    }
    listen();
  }

  bool write(std::string bytes) {
    std::lock_guard lock(mutex_);
    if (socket_) return send(*socket_, bytes);
    waiting_ += bytes;
    return waiting_.size() < kMostWaiting;
  }

  Bytes queued() {
    std::lock_guard lock(mutex_);
    return socket_ ? socket_->queued() : Bytes{static_cast<int64_t>(waiting_.size())};
  }

  // The stream is gone: the socket closes properly in the background.
  void end() {
    std::shared_ptr<net::WebSocket> socket;
    std::lock_guard lock(mutex_);
    over_ = true;
    socket.swap(socket_);
  }

  Fn closed_, drained_;  // the owner thread's

 private:
  bool send(net::WebSocket& socket, std::string_view bytes) {
    if (pieces_ == Pieces::kAsWritten && socket.protocol() == kBase64)
      return bytes.empty() || socket.writeText(base64Encode(bytes));
    if (pieces_ == Pieces::kAsWritten) return bytes.empty() || socket.write(bytes);
    while (!bytes.empty()) {
      const size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
      if (!socket.writeText(bytes.substr(0, end))) return false;
      bytes.remove_prefix(end);
    }
    return true;
  }

  // What the client says has no meaning, but that it goes has; pings are answered by the way.
  void listen() {
    std::shared_ptr<net::WebSocket> socket;
    {
      std::lock_guard lock(mutex_);
      socket = socket_;
    }
    if (!socket) return;
    socket->read([weak = weak_from_this()](Result<std::optional<net::WsMessage>> got) {
      auto self = weak.lock();
      if (!self) return;
      if (!got || !*got) return self->tell(&Core::closed_);
      self->listen();
    });
  }

  // While the stream lives, the owner does.
  void tell(Fn Core::*which) {
    std::lock_guard lock(mutex_);
    if (over_) return;
    owner_.post([weak = weak_from_this(), which] {
      auto self = weak.lock();
      if (self && !self->isOver() && (*self).*which) ((*self).*which)();
    });
  }

  bool isOver() {
    std::lock_guard lock(mutex_);
    return over_;
  }

  Mailbox& owner_;
  const Pieces pieces_;
  std::mutex mutex_;
  std::shared_ptr<net::WebSocket> socket_;
  std::string waiting_;
  bool over_ = false;
};

std::vector<std::string_view> SocketStream::protocols() {
  return {kBinary, kBase64};
}
SocketStream::SocketStream(Mailbox& owner, Pieces pieces)
    : core_(std::make_shared<Core>(owner, pieces)) {}
SocketStream::~SocketStream() {
  core_->end();
}
Responder::Opened SocketStream::door() {
  return [core = core_](std::unique_ptr<net::WebSocket> socket) { core->open(std::move(socket)); };
}
bool SocketStream::write(std::string bytes) {
  return core_->write(std::move(bytes));
}
Bytes SocketStream::queued() const {
  return core_->queued();
}
void SocketStream::onClosed(Fn fn) {
  core_->closed_ = std::move(fn);
}
void SocketStream::onDrained(Fn fn) {
  core_->drained_ = std::move(fn);
}

}  // namespace mangrove::apiserver
