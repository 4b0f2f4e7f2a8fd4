#include "apiserver/subresources/spdy_channels.h"

#include <deque>
#include <mutex>

#include "apiserver/subresources/channel_session.h"
#include "base/text/strings.h"
#include "net/upgrade/spdy_session.h"

namespace mangrove::apiserver {

namespace {

using frame::SessionInput;
using SpdyStreamPtr = std::shared_ptr<net::SpdyStream>;

// Both the client's connection and the command hold it; whoever ends first ends it for both.
class SpdyChannels : public std::enable_shared_from_this<SpdyChannels> {
 public:
  SpdyChannels(const frame::SessionOptions& options, frame::SessionStart start)
      : options_(options), start_(std::move(start)) {}

  void begin(std::unique_ptr<net::ByteStream> bytes) {
    auto session = net::SpdySession::start(
        std::move(bytes),
        [self = shared_from_this()](SpdyStreamPtr stream) { self->opened(std::move(stream)); },
        [self = shared_from_this()] { self->gone(); });
    std::lock_guard lock(mutex_);
    if (!gone_) session_ = std::move(session);
  }

  void read(UniqueFn<void(SessionInput)> done) {
    {
      std::lock_guard lock(mutex_);
      reader_ = std::move(done);
    }
    deliver();
    listen(&SpdyChannels::in_, inBusy_, &SpdyChannels::heardInput);
    listen(&SpdyChannels::resize_, resizeBusy_, &SpdyChannels::heardSize);
  }

  bool write(frame::Session::Channel channel, std::string_view data) {
    const bool err = channel == frame::Session::Channel::kErr && !options_.tty;
    SpdyStreamPtr to;
    {
      std::lock_guard lock(mutex_);
      if (gone_) return false;
      to = err ? err_ : out_;
      if (!to || data.empty()) return true;  // nobody asked for it
      queued_ += data.size();
    }
    to->write(std::string(data), [weak = weak_from_this(), size = data.size()](Result<>) {
      if (auto self = weak.lock()) self->left(size);
    });
    return true;
  }

  Bytes queued() const {
    std::lock_guard lock(mutex_);
    return Bytes{static_cast<int64_t>(queued_)};
  }
  void onDrained(Fn fn) {
    std::lock_guard lock(mutex_);
    drained_ = std::make_shared<Fn>(std::move(fn));
  }

  void finish(const frame::SessionEnd& end) {
    SpdyStreamPtr error;
    {
      std::lock_guard lock(mutex_);
      error = error_;
    }
    if (error) error->write(sessionStatus(end), {});
    close();
  }

  // What was written still leaves; then the connection is over.
  void close() {
    std::unique_ptr<net::SpdySession> session;
    std::vector<SpdyStreamPtr> streams;
    {
      std::lock_guard lock(mutex_);
      session = std::move(session_);
      streams = {std::move(out_), std::move(err_), std::move(error_), std::move(in_),
                 std::move(resize_)};
      gone_ = true;
    }
    for (const auto& stream : streams)
      if (stream) stream->finish();
    session.reset();  // before the streams: otherwise each of them would be reset
  }

 private:
  SpdyStreamPtr* slotOf(std::string_view type) {
    if (type == "error") return &error_;
    if (type == "stdin" && options_.in) return &in_;
    if (type == "stdout" && options_.out) return &out_;
    if (type == "stderr" && options_.err) return &err_;
    if (type == "resize" && options_.tty) return &resize_;
    return nullptr;
  }
  bool complete() const {
    return error_ && (in_ || !options_.in) && (out_ || !options_.out) && (err_ || !options_.err) &&
           (resize_ || !options_.tty);
  }

  void opened(SpdyStreamPtr stream);

  void left(size_t size) {
    std::shared_ptr<Fn> drained;
    {
      std::lock_guard lock(mutex_);
      queued_ -= size;
      if (queued_ == 0) drained = drained_;
    }
    if (drained && *drained) (*drained)();
  }

  using Heard = void (SpdyChannels::*)(Result<std::string>);
  // Asks a stream for more, unless it is asked already or there is no such stream.
  void listen(SpdyStreamPtr SpdyChannels::*which, bool& busy, Heard heard) {
    SpdyStreamPtr stream;
    {
      std::lock_guard lock(mutex_);
      if (busy || gone_ || !inputs_.empty()) return;
      stream = this->*which;
      busy = stream != nullptr;
    }
    if (!stream) return;
    stream->read([weak = weak_from_this(), heard](Result<std::string> got) {
      if (auto self = weak.lock()) (self.get()->*heard)(std::move(got));
    });
  }

  void heardInput(Result<std::string> got) {
    {
      std::lock_guard lock(mutex_);
      if (got && !got->empty()) {
        inBusy_ = false;
        inputs_.push_back({SessionInput::Kind::kData, std::move(*got), 0, 0});
      } else if (got) {
        inputs_.push_back(
            {SessionInput::Kind::kEndOfInput, "", 0, 0});  // and stays busy: it is over
      }
    }
    deliver();
  }

  // One JSON object a line; only the newest size counts.
  void heardSize(Result<std::string> got) {
    if (!got || got->empty()) return;  // stays busy: nothing more comes
    const auto lines = splitTrimmed(trim(*got), '\n');
    {
      std::lock_guard lock(mutex_);
      resizeBusy_ = false;
      if (!lines.empty()) inputs_.push_back(readResize(lines.back()));
    }
    deliver();
  }

  void gone() {
    std::unique_ptr<net::SpdySession> session;
    {
      std::lock_guard lock(mutex_);
      gone_ = true;
      session = std::move(session_);
    }
    deliver();
  }

  void deliver() {
    UniqueFn<void(SessionInput)> reader;
    SessionInput input;
    {
      std::lock_guard lock(mutex_);
      if (!reader_ || (inputs_.empty() && !gone_)) return;
      reader = std::exchange(reader_, nullptr);
      if (!inputs_.empty()) {
        input = std::move(inputs_.front());
        inputs_.pop_front();
      }
    }
    reader(std::move(input));
  }

  const frame::SessionOptions options_;
  mutable std::mutex mutex_;
  frame::SessionStart start_;
  std::unique_ptr<net::SpdySession> session_;
  SpdyStreamPtr error_, in_, out_, err_, resize_;
  bool inBusy_ = false, resizeBusy_ = false;
  std::deque<SessionInput> inputs_;
  UniqueFn<void(SessionInput)> reader_;
  size_t queued_ = 0;
  std::shared_ptr<Fn> drained_;
  bool gone_ = false;
};

// The command's end.
class SpdyClient final : public frame::Session {
 public:
  explicit SpdyClient(std::shared_ptr<SpdyChannels> channels) : channels_(std::move(channels)) {}
  ~SpdyClient() override { channels_->close(); }
  void read(UniqueFn<void(SessionInput)> done) override { channels_->read(std::move(done)); }
  bool write(Channel channel, std::string_view data) override {
    return channels_->write(channel, data);
  }
  Bytes queued() const override { return channels_->queued(); }
  void onDrained(Fn fn) override { channels_->onDrained(std::move(fn)); }
  void finish(const frame::SessionEnd& end) override { channels_->finish(end); }

 private:
  std::shared_ptr<SpdyChannels> channels_;
};

void SpdyChannels::opened(SpdyStreamPtr stream) {
  frame::SessionStart start;
  {
    std::lock_guard lock(mutex_);
    SpdyStreamPtr* slot = slotOf(stream->headers().get("streamtype"));
    if (slot && !*slot) {
      *slot = std::move(stream);
      if (complete()) start = std::exchange(start_, nullptr);
    }
  }
  if (stream) return stream->close();  // one that was not promised
  if (start) start(std::make_unique<SpdyClient>(shared_from_this()));
}

}  // namespace

std::vector<std::string_view> spdyChannelProtocols() {
  return {"v4.channel.k8s.io"};
}

void startOverSpdy(std::unique_ptr<net::ByteStream> bytes, const frame::SessionOptions& options,
                   frame::SessionStart start) {
  std::make_shared<SpdyChannels>(options, std::move(start))->begin(std::move(bytes));
}

}  // namespace mangrove::apiserver
