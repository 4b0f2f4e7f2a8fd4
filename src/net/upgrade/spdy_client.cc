#include "net/upgrade/spdy_client.h"

#include "base/check.h"

namespace mangrove::net {

namespace {

constexpr size_t kMostInFrame = 32 * 1024;

}  // namespace

std::shared_ptr<SpdyClient> SpdyClient::over(std::unique_ptr<ByteStream> bytes) {
  return std::shared_ptr<SpdyClient>(new SpdyClient(std::move(bytes)));
}

uint32_t SpdyClient::open(const Headers& headers) {
  std::lock_guard lock(mutex_);
  const uint32_t id = std::exchange(next_, next_ + 2);
  if (bytes_) bytes_->write(writer_.synStream(id, headers, false), {});
  return id;
}

void SpdyClient::write(uint32_t stream, std::string data, ByteStream::WriteDone done) {
  std::string frames;
  for (size_t at = 0; at < data.size(); at += kMostInFrame)
    frames += SpdyWriter::data(stream, std::string_view(data).substr(at, kMostInFrame), false);
  std::shared_ptr<ByteStream> to;
  {
    std::lock_guard lock(mutex_);
    to = bytes_;
  }
  if (to) return to->write(std::move(frames), std::move(done));
  if (done) done(fail(Code::kCancelled, "the connection is closed"));
}

void SpdyClient::finish(uint32_t stream) {
  std::lock_guard lock(mutex_);
  if (bytes_) bytes_->write(SpdyWriter::data(stream, "", true), {});
}

void SpdyClient::read(PieceDone done) {
  {
    std::lock_guard lock(mutex_);
    CHECK(!waiting_, "a second read while one is under way");
    waiting_ = std::move(done);
  }
  answer();
  readMore();
}

// Somebody waits and nothing is there: only then is more asked for.
void SpdyClient::readMore() {
  std::shared_ptr<ByteStream> from;
  {
    std::lock_guard lock(mutex_);
    if (!bytes_ || reading_ || !waiting_) return;
    reading_ = true;
    from = bytes_;
  }
  from->read([weak = weak_from_this()](Result<std::string> got) {
    auto self = weak.lock();
    if (!self) return;
    {
      std::lock_guard lock(self->mutex_);
      self->reading_ = false;
    }
    if (!got || got->empty())
      return self->end(got ? Error(Code::kGone, "the connection has ended") : got.error());
    self->reader_.add(*got);
    while (auto frame = self->reader_.next()) self->take(std::move(*frame));
    if (self->reader_.error()) return self->end(Error(Code::kInvalid, *self->reader_.error()));
    self->answer();
    self->readMore();
  });
}

void SpdyClient::take(SpdyFrame frame) {
  std::lock_guard lock(mutex_);
  if (frame.type == SpdyFrame::Type::kPing && bytes_)
    return bytes_->write(SpdyWriter::ping(frame.stream), {});
  if (frame.type == SpdyFrame::Type::kReset) return pieces_.push_back({frame.stream, "", true});
  if (frame.type != SpdyFrame::Type::kData) return;
  pieces_.push_back({frame.stream, std::move(frame.data), frame.fin});
}

void SpdyClient::answer() {
  PieceDone done;
  Result<Piece> what = Piece{};
  {
    std::lock_guard lock(mutex_);
    if (!waiting_ || (pieces_.empty() && !over_)) return;
    done = std::exchange(waiting_, nullptr);
    if (pieces_.empty()) {
      what = pass(*over_);
    } else {
      what = std::move(pieces_.front());
      pieces_.pop_front();
    }
  }
  done(std::move(what));
}

// A stream waits for its callback when it ends, so it ends without our lock.
void SpdyClient::end(Error why) {
  std::shared_ptr<ByteStream> ended;
  {
    std::lock_guard lock(mutex_);
    ended = std::move(bytes_);
    bytes_ = nullptr;
    if (!over_) over_ = std::move(why);
  }
  answer();
}

void SpdyClient::close() {
  end(Error(Code::kCancelled, "closed"));
}

}  // namespace mangrove::net
