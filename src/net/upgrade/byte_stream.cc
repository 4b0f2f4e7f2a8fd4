#include "net/upgrade/byte_stream.h"

#include "base/check.h"
#include "net/upgrade/byte_stream_core.h"

namespace mangrove::net {

class ByteStreamCore::Handle final : public ByteStream {
 public:
  explicit Handle(std::shared_ptr<ByteStreamCore> core)
      : io_(core->io_.door()), core_(std::move(core)) {}
  ~Handle() override {
    core_->gate_.shut();
    io_.post([core = std::move(core_)] { core->close(); });
  }

  void read(ReadDone done) override {
    io_.post([core = core_, done = std::move(done)]() mutable { core->read(std::move(done)); });
  }
  void write(std::string data, WriteDone done) override {
    io_.post([core = core_, data = std::move(data), done = std::move(done)]() mutable {
      core->write(std::move(data), std::move(done));
    });
  }
  void finish() override {
    io_.post([core = core_] { core->finish(); });
  }
  void close() override {
    io_.post([core = core_] { core->close(); });
  }

 private:
  const IoDoor io_;
  std::shared_ptr<ByteStreamCore> core_;
};

struct ByteStreamCore::PendingRead {
  explicit PendingRead(std::shared_ptr<ByteStreamCore> of) : core(std::move(of)) {}
  PendingRead(PendingRead&&) = default;
  ~PendingRead() {
    if (core) core->forgetReader();
  }
  std::shared_ptr<ByteStreamCore> core;
};

ByteStreamCore::ByteStreamCore(IoThread& io, TransportPtr transport, std::string early,
                               bool readPending)
    : io_(io),
      transport_(std::move(transport)),
      outbox_(std::make_shared<Outbox>(transport_, this)),
      buffer_(std::move(early)),
      readBuffer_(kReadSize, '\0'),
      readPending_(readPending) {}

std::unique_ptr<ByteStream> ByteStreamCore::handle() {
  return std::make_unique<Handle>(shared_from_this());
}

void ByteStreamCore::read(ByteStream::ReadDone done) {
  CHECK(!reader_, "a second read while one is under way");
  reader_ = std::move(done);
  if (!buffer_.empty() || ended_ || broken_) return answerRead();
  readMore();
}

void ByteStreamCore::readMore() {
  if (readPending_) return;
  readPending_ = true;
  transport_->read(readBuffer_.data(), readBuffer_.size(),
                   [pending = PendingRead(shared_from_this())](IoResult result) mutable {
                     auto self = std::move(pending.core);
                     std::string_view data(self->readBuffer_.data(), result.bytes);
                     self->onRead(result, data);
                   });
}

void ByteStreamCore::keep(Duration idle, std::shared_ptr<void> seat) {
  idle_ = idle;
  seat_ = std::move(seat);
  deadline_.emplace(io_, [this] {
    auto self = shared_from_this();
    end(Error(Code::kTimeout, "nothing has come or gone for too long"));
  });
  moved();
}

void ByteStreamCore::moved() {
  if (deadline_ && !broken_) deadline_->in(idle_);
}

void ByteStreamCore::onRead(const IoResult& result, std::string_view data) {
  readPending_ = false;
  if (!data.empty()) moved();
  buffer_ += data;
  if (result.kind == IoResult::Kind::kEnd) ended_ = true;
  if (result.kind == IoResult::Kind::kBroken && !broken_) broken_.emplace(Code::kIo, result.why);
  if (result.kind == IoResult::Kind::kCancelled && !broken_)
    broken_.emplace(Code::kCancelled, "the stream is closed");
  if (reader_) answerRead();
}

void ByteStreamCore::answerRead() {
  auto done = std::exchange(reader_, nullptr);
  Result<std::string> answer = std::exchange(buffer_, {});
  if (answer->empty() && broken_) answer = Failure(*broken_);
  gate_.pass([&] { done(std::move(answer)); });
}

void ByteStreamCore::write(std::string data, ByteStream::WriteDone done) {
  if (broken_ || finishing_) {
    Error error = broken_.value_or(Error(Code::kInvalid, "write after finish()"));
    if (done) gate_.pass([&] { done(Failure(error)); });
    return;
  }
  added_ += data.size();
  bool nothing = data.empty() && outbox_->empty();
  if (done) writes_.push_back({added_, std::move(done)});
  outbox_->add(std::move(data));
  if (nothing) onWritten(0);
}

void ByteStreamCore::finish() {
  if (broken_ || std::exchange(finishing_, true)) return;
  if (outbox_->empty()) transport_->finish();
}

void ByteStreamCore::close() {
  end(Error(Code::kCancelled, "the stream is closed"));
}

void ByteStreamCore::end(Error why) {
  if (!broken_) broken_.emplace(std::move(why));
  if (deadline_) deadline_->clear();
  seat_.reset();
  outbox_->detach();
  transport_->close();
  endWrites(*broken_);
  if (reader_) answerRead();
}

void ByteStreamCore::endWrites(const Error& error) {
  while (!writes_.empty()) {
    auto done = std::move(writes_.front().done);
    writes_.pop_front();
    gate_.pass([&] { done(Failure(error)); });
  }
}

void ByteStreamCore::onWritten(size_t bytes) {
  auto self = shared_from_this();
  written_ += bytes;
  if (bytes > 0) moved();
  while (!writes_.empty() && writes_.front().end <= written_) {
    auto done = std::move(writes_.front().done);
    writes_.pop_front();
    gate_.pass([&] { done({}); });
  }
}

void ByteStreamCore::onDrained() {
  if (finishing_) transport_->finish();
}

void ByteStreamCore::onWriteBroken(const std::string& why) {
  if (!broken_) broken_.emplace(Code::kIo, why);
  endWrites(*broken_);
}

}  // namespace mangrove::net
