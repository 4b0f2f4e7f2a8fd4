#include "net/upgrade/web_socket.h"

#include <atomic>
#include <mutex>

#include "base/check.h"
#include "net/upgrade/web_socket_wire.h"

namespace mangrove::net {

// Kept alive by the handle, by the read under way on the stream, and by the closing timer.
class WebSocket::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(std::unique_ptr<ByteStream> stream, std::string protocol, WebSocketOptions options)
      : options_(options),
        protocol_(std::move(protocol)),
        frames_(static_cast<size_t>(options.maxMessage.v)),
        stream_(std::move(stream)) {}

  const std::string& protocol() const { return protocol_; }
  size_t queued() const { return queued_; }

  void read(ReadDone done) {
    {
      std::lock_guard lock(mutex_);
      CHECK(!reader_, "a second read while one is under way");
      reader_ = std::move(done);
    }
    pump();
  }

  bool write(WsOpcode opcode, std::string_view data) {
    std::lock_guard lock(mutex_);
    return send(opcode, data);
  }

  void onDrained(Fn fn) {
    std::lock_guard lock(mutex_);
    drained_ = std::make_shared<Fn>(std::move(fn));
  }

  void close(uint16_t code, std::string_view reason) {
    std::lock_guard lock(mutex_);
    if (closing_ || !stream_) return;
    send(WsOpcode::kClose, wsCloseBody(code, reason));
    closing_ = true;
    Clock& clock = options_.clock ? *options_.clock : realClock();
    giveUp_ = clock.after(options_.closeTimeout, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->drop("the peer did not answer the close");
    });
  }

  // The handle is gone: nobody is told of anything any more, but the closing handshake goes on.
  void abandon() {
    close(1000, "");
    ReadDone reader;
    std::shared_ptr<Fn> drained;
    {
      std::lock_guard lock(mutex_);
      reader = std::exchange(reader_, nullptr);
      drained.swap(drained_);
      abandoned_ = true;
    }
    pump();
  }

 private:
  bool wanted() const { return reader_ || (abandoned_ && stream_); }

  // Delivers messages while somebody waits for them; one thread at a time, so that a callback that
  // reads again does not nest.
  void pump() {
    std::unique_lock lock(mutex_);
    if (pumping_) return;
    pumping_ = true;
    while (wanted() && step(lock)) {
    }
    pumping_ = false;
  }

  // One message, one control frame, or the end; false when bytes must come first.
  bool step(std::unique_lock<std::mutex>& lock) {
    if (auto frame = frames_.next()) {
      take(std::move(*frame), lock);
      return true;
    }
    if (frames_.error() && !broken_) breakOff(frames_.error()->code, frames_.error()->sentence);
    if (broken_ || ended_) {
      deliver(end(), lock);
      return false;
    }
    if (!reading_) readMore();
    return false;
  }

  void take(WsFrame frame, std::unique_lock<std::mutex>& lock) {
    switch (frame.opcode) {
      case WsOpcode::kPing:
        send(WsOpcode::kPong, frame.payload);
        return;
      case WsOpcode::kPong:
        return;
      case WsOpcode::kClose:
        return onCloseFrame(frame.payload);
      default:
        return takeData(std::move(frame), lock);
    }
  }

  void takeData(WsFrame frame, std::unique_lock<std::mutex>& lock) {
    const bool first = frame.opcode != WsOpcode::kContinuation;
    if (first == inMessage_) return breakOff(1002, "pieces of a message out of order");
    if (first) message_ = {frame.opcode == WsOpcode::kText, {}};
    inMessage_ = !frame.last;
    message_.data += frame.payload;
    if (message_.data.size() > static_cast<size_t>(options_.maxMessage.v))
      return breakOff(1009, "a message that is too long");
    if (frame.last) deliver(std::optional<WsMessage>(std::move(message_)), lock);
  }

  void onCloseFrame(std::string_view payload) {
    if (!closing_) send(WsOpcode::kClose, payload.substr(0, 2));
    closing_ = true;
    ended_ = true;
    giveUp_.reset();
    if (stream_) stream_->finish();
  }

  void breakOff(uint16_t code, const std::string& sentence) {
    send(WsOpcode::kClose, wsCloseBody(code, sentence));
    closing_ = true;
    broken_.emplace(Code::kInvalid, "WebSocket: " + sentence);
    if (stream_) stream_->finish();
  }

  Result<std::optional<WsMessage>> end() const {
    if (broken_ && !ended_) return Failure(*broken_);
    return std::optional<WsMessage>();
  }

  void deliver(Result<std::optional<WsMessage>> what, std::unique_lock<std::mutex>& lock) {
    auto reader = std::exchange(reader_, nullptr);
    const bool over = !what || !*what;
    std::unique_ptr<ByteStream> finished;
    if (over && abandoned_) finished = std::move(stream_);
    lock.unlock();
    finished.reset();
    if (reader) reader(std::move(what));
    reader = nullptr;  // what it holds may hold us, and must go while the lock is free
    lock.lock();
  }

  void readMore() {
    if (!stream_) return;
    reading_ = true;
    stream_->read([self = shared_from_this()](Result<std::string> got) {
      {
        std::lock_guard lock(self->mutex_);
        self->reading_ = false;
        if (got && !got->empty()) self->frames_.add(*got);
        if (got && got->empty() && !self->ended_) self->lost("the peer went away");
        if (!got) self->lost(got.error().text());
      }
      self->pump();
    });
  }

  void lost(const std::string& why) {
    if (!broken_) broken_.emplace(Code::kCancelled, "WebSocket: " + why);
  }

  bool send(WsOpcode opcode, std::string_view data) {
    if (closing_ || broken_ || !stream_) return false;
    if (queued_ + data.size() > static_cast<size_t>(options_.maxQueued.v)) {
      broken_.emplace(Code::kTooLarge, "WebSocket: the peer reads too slowly");
      stream_->close();
      return false;
    }
    std::string frame = wsFrame(opcode, data);
    const size_t size = frame.size();
    queued_ += size;
    stream_->write(std::move(frame), [weak = weak_from_this(), size](Result<>) {
      if (auto self = weak.lock()) self->written(size);
    });
    return true;
  }

  void written(size_t bytes) {
    std::shared_ptr<Fn> tell;
    {
      std::lock_guard lock(mutex_);
      queued_ -= bytes;
      if (queued_ == 0) tell = drained_;
    }
    if (tell && *tell) (*tell)();
  }

  void drop(const std::string& why) {
    std::lock_guard lock(mutex_);
    lost(why);
    if (stream_) stream_->close();
  }

  const WebSocketOptions options_;
  const std::string protocol_;
  std::atomic<size_t> queued_ = 0;

  std::mutex mutex_;
  FrameReader frames_;
  std::unique_ptr<ByteStream> stream_;
  ReadDone reader_;
  std::shared_ptr<Fn> drained_;
  WsMessage message_;
  std::optional<Error> broken_;
  bool inMessage_ = false;
  bool reading_ = false;
  bool pumping_ = false;
  bool closing_ = false;  // our close frame is on its way
  bool ended_ = false;    // the peer's close frame has come
  bool abandoned_ = false;
  Timer giveUp_;
};

WebSocket::WebSocket(std::shared_ptr<Core> core) : core_(std::move(core)) {}
WebSocket::~WebSocket() {
  core_->abandon();
}

std::unique_ptr<WebSocket> WebSocket::over(std::unique_ptr<ByteStream> stream, std::string protocol,
                                           WebSocketOptions options) {
  return std::unique_ptr<WebSocket>(
      new WebSocket(std::make_shared<Core>(std::move(stream), std::move(protocol), options)));
}

const std::string& WebSocket::protocol() const {
  return core_->protocol();
}
void WebSocket::read(ReadDone done) {
  core_->read(std::move(done));
}
bool WebSocket::write(std::string_view data) {
  return core_->write(WsOpcode::kBinary, data);
}
bool WebSocket::writeText(std::string_view data) {
  return core_->write(WsOpcode::kText, data);
}
Bytes WebSocket::queued() const {
  return Bytes{static_cast<int64_t>(core_->queued())};
}
void WebSocket::onDrained(Fn fn) {
  core_->onDrained(std::move(fn));
}
void WebSocket::close(uint16_t code, std::string_view reason) {
  core_->close(code, reason);
}

}  // namespace mangrove::net
