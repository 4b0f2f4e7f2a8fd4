#include "net/upgrade/spdy_session.h"

#include <map>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "base/text/strings.h"
#include "net/upgrade/spdy_wire.h"

namespace mangrove::net {

namespace {

constexpr uint32_t kRefusedStream = 3;  // status codes of RST_STREAM
constexpr uint32_t kCancel = 5;
constexpr size_t kMaxData = 32 * 1024;  // of one frame we send

// One stream's books. Guarded by the session's mutex.
struct StreamState {
  std::string unread;
  ByteStream::ReadDone reader;
  bool ended = false;     // the client sends no more
  bool finished = false;  // we send no more
  bool reset = false;
};

// Callbacks collected under the lock, run without it.
using Calls = std::vector<Fn>;

}  // namespace

class SpdySession::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(std::unique_ptr<ByteStream> bytes, OnStream onStream, Fn onEnd)
      : bytes_(std::move(bytes)), onStream_(std::move(onStream)), onEnd_(std::move(onEnd)) {}

  void readMore() {
    std::shared_ptr<ByteStream> bytes;
    {
      std::lock_guard lock(mutex_);
      if (!bytes_ || reading_ || tooFull()) return;
      reading_ = true;
      bytes = bytes_;
    }
    bytes->read([self = shared_from_this()](Result<std::string> got) {
      {
        std::lock_guard lock(self->mutex_);
        self->reading_ = false;
      }
      if (!got || got->empty()) return self->end();
      self->reader_.add(*got);
      while (auto frame = self->reader_.next()) self->take(std::move(*frame));
      if (self->reader_.error()) return self->end();
      self->readMore();
    });
  }

  void close() {
    uint32_t last = 0;
    {
      std::lock_guard lock(mutex_);
      onStream_ = nullptr;
      onEnd_ = nullptr;
      last = lastStream_;
    }
    // The connection is held until this, and with it all that was written before, has left.
    if (auto to = bytes()) to->write(SpdyWriter::goAway(last, 0), [to](const Result<>&) {});
    end();
  }

  void readStream(uint32_t id, ByteStream::ReadDone done) {
    Calls calls;
    {
      std::lock_guard lock(mutex_);
      auto found = streams_.find(id);
      if (found == streams_.end()) {
        calls.push_back([done = std::move(done)]() mutable {
          done(fail(Code::kCancelled, "the stream is closed"));
        });
      } else {
        CHECK(!found->second.reader, "a second read while one is under way");
        found->second.reader = std::move(done);
        answer(found->second, calls);
      }
    }
    run(calls);
    readMore();
  }

  void writeStream(uint32_t id, std::string data, ByteStream::WriteDone done) {
    std::string frames;
    std::shared_ptr<ByteStream> bytes;
    {
      std::lock_guard lock(mutex_);
      auto found = streams_.find(id);
      if (found != streams_.end() && !found->second.finished && !found->second.reset)
        bytes = bytes_;
    }
    if (!bytes) {
      if (done) done(fail(Code::kCancelled, "the stream is closed"));
      return;
    }
    for (size_t at = 0; at < data.size(); at += kMaxData)
      frames += SpdyWriter::data(id, std::string_view(data).substr(at, kMaxData), false);
    bytes->write(std::move(frames), std::move(done));
  }

  void finishStream(uint32_t id) {
    std::shared_ptr<ByteStream> bytes;
    {
      std::lock_guard lock(mutex_);
      auto found = streams_.find(id);
      if (found == streams_.end() || found->second.finished || found->second.reset) return;
      found->second.finished = true;
      bytes = bytes_;
    }
    if (bytes) bytes->write(SpdyWriter::data(id, "", true), {});
  }

  // The holder of the stream is done with it.
  void dropStream(uint32_t id) {
    ByteStream::ReadDone late;
    std::shared_ptr<ByteStream> tell;
    {
      std::lock_guard lock(mutex_);
      auto found = streams_.find(id);
      if (found == streams_.end()) return;
      late = std::move(found->second.reader);
      const bool whole = found->second.finished && found->second.ended;
      if (!whole && !found->second.reset) tell = bytes_;
      streams_.erase(found);
    }
    if (tell) tell->write(SpdyWriter::reset(id, kCancel), {});
    if (late) late(fail(Code::kCancelled, "the stream is closed"));
    readMore();
  }

 private:
  bool tooFull() const {
    for (const auto& [id, stream] : streams_)
      if (stream.unread.size() > kSpdyStreamLimit) return true;
    return false;
  }

  static void run(Calls& calls) {
    for (auto& call : calls) call();
  }

  // Gives a waiting reader what there is.
  static void answer(StreamState& stream, Calls& calls) {
    if (!stream.reader) return;
    if (stream.unread.empty() && !stream.ended && !stream.reset) return;
    Result<std::string> what = std::exchange(stream.unread, {});
    if (what->empty() && stream.reset) what = fail(Code::kCancelled, "the client reset the stream");
    calls.push_back([done = std::exchange(stream.reader, nullptr),
                     what = std::move(what)]() mutable { done(std::move(what)); });
  }

  void take(SpdyFrame frame) {
    switch (frame.type) {
      case SpdyFrame::Type::kSynStream:
        return opened(std::move(frame));
      case SpdyFrame::Type::kData:
        return received(std::move(frame));
      case SpdyFrame::Type::kReset:
        return wasReset(frame.stream);
      case SpdyFrame::Type::kPing:
        return pong(frame.stream);
      default:
        return;  // settings, windows, headers: nothing that Kubernetes' clients rely on
    }
  }

  std::shared_ptr<ByteStream> bytes() {
    std::lock_guard lock(mutex_);
    return bytes_;
  }

  void pong(uint32_t id) {
    if (auto to = bytes()) to->write(SpdyWriter::ping(id), {});
  }

  void opened(SpdyFrame frame);

  void received(SpdyFrame frame) {
    Calls calls;
    {
      std::lock_guard lock(mutex_);
      auto found = streams_.find(frame.stream);
      if (found == streams_.end()) return;
      found->second.unread += frame.data;
      if (frame.fin) found->second.ended = true;
      answer(found->second, calls);
    }
    run(calls);
  }

  void wasReset(uint32_t id) {
    Calls calls;
    {
      std::lock_guard lock(mutex_);
      auto found = streams_.find(id);
      if (found == streams_.end()) return;
      found->second.reset = true;
      answer(found->second, calls);
    }
    run(calls);
  }

  void end() {
    Calls calls;
    std::shared_ptr<ByteStream> bytes;
    {
      std::lock_guard lock(mutex_);
      bytes = std::move(bytes_);
      bytes_ = nullptr;
      for (auto& [id, stream] : streams_) {
        stream.reset = true;
        answer(stream, calls);
      }
      if (onEnd_) calls.push_back(std::exchange(onEnd_, nullptr));
    }
    if (bytes) bytes->finish();
    run(calls);
  }

  std::mutex mutex_;
  std::shared_ptr<ByteStream> bytes_;
  OnStream onStream_;
  Fn onEnd_;
  SpdyReader reader_;  // I/O thread
  SpdyWriter writer_;  // I/O thread
  std::map<uint32_t, StreamState> streams_;
  uint32_t lastStream_ = 0;
  bool reading_ = false;
};

class SpdySession::Stream final : public SpdyStream {
 public:
  Stream(std::shared_ptr<Core> core, uint32_t id, Headers headers)
      : core_(std::move(core)), id_(id), headers_(std::move(headers)) {}
  ~Stream() override { core_->dropStream(id_); }
  const Headers& headers() const override { return headers_; }
  void read(ReadDone done) override { core_->readStream(id_, std::move(done)); }
  void write(std::string data, WriteDone done) override {
    core_->writeStream(id_, std::move(data), std::move(done));
  }
  void finish() override { core_->finishStream(id_); }
  void close() override { core_->dropStream(id_); }

 private:
  std::shared_ptr<Core> core_;
  const uint32_t id_;
  const Headers headers_;
};

void SpdySession::Core::opened(SpdyFrame frame) {
  OnStream onStream;
  std::shared_ptr<ByteStream> to;
  {
    std::lock_guard lock(mutex_);
    to = bytes_;
    const bool wrongId = frame.stream % 2 == 0 || frame.stream <= lastStream_;
    if (!wrongId && streams_.size() < kSpdyMaxStreams) onStream = std::exchange(onStream_, nullptr);
    if (onStream) {
      lastStream_ = frame.stream;
      streams_[frame.stream].ended = frame.fin;
    }
  }
  if (!to) return;
  if (!onStream) return to->write(SpdyWriter::reset(frame.stream, kRefusedStream), {});
  to->write(writer_.synReply(frame.stream, {}), {});
  onStream(std::make_shared<Stream>(shared_from_this(), frame.stream, std::move(frame.headers)));
  std::lock_guard lock(mutex_);
  if (bytes_) onStream_ = std::move(onStream);
}

bool wantsSpdy(const HttpRequest& request) {
  return request.headers.hasToken("Connection", "upgrade") &&
         request.headers.hasToken("Upgrade", "SPDY/3.1");
}

Result<HttpResponse> spdyHandshake(const HttpRequest& request,
                                   const std::vector<std::string_view>& known) {
  constexpr std::string_view kProtocol = "X-Stream-Protocol-Version";
  for (std::string_view one : known) {
    if (!request.headers.hasToken(kProtocol, one)) continue;
    return HttpResponse{101,
                        {{"Upgrade", "SPDY/3.1"},
                         {"Connection", "Upgrade"},
                         {std::string(kProtocol), std::string(one)}},
                        ""};
  }
  return fail(Code::kUnsupported, "{} '{}' is not known here; want one of {}", kProtocol,
              request.headers.get(kProtocol), join(known, ", "));
}

SpdySession::SpdySession(std::shared_ptr<Core> core) : core_(std::move(core)) {}
SpdySession::~SpdySession() {
  core_->close();
}

std::unique_ptr<SpdySession> SpdySession::start(std::unique_ptr<ByteStream> bytes,
                                                OnStream onStream, Fn onEnd) {
  auto core = std::make_shared<Core>(std::move(bytes), std::move(onStream), std::move(onEnd));
  core->readMore();
  return std::unique_ptr<SpdySession>(new SpdySession(std::move(core)));
}

}  // namespace mangrove::net
