#include "net/server/response_queue.h"

#include "net/server/server_session.h"

namespace mangrove::net {

bool ResponseQueue::write(std::string data) {
  std::lock_guard lock(mutex_);
  if (closed_ || ended_) return false;
  if (queued_ + data.size() > limit_) {
    closed_ = true;
    io_.post([session = session_, limit = limit_] {
      if (auto alive = session.lock())
        alive->abortStream(Error(Code::kTooLarge,
                                 fmt::format("the reader is too slow: more than {} bytes wait for "
                                             "it",
                                             limit)));
    });
    return false;
  }
  queued_ += data.size();
  if (pending_.empty())
    pending_ = std::move(data);
  else
    pending_ += data;
  schedule();
  return true;
}

void ResponseQueue::close() {
  std::lock_guard lock(mutex_);
  if (closed_ || ended_) return;
  closed_ = last_ = true;
  told_ = true;  // it is our own doing
  schedule();
}

void ResponseQueue::drop() {
  gate_.shut();
  close();
}

void ResponseQueue::schedule() {
  if (std::exchange(scheduled_, true)) return;
  io_.post([session = session_, self = shared_from_this()] {
    if (auto alive = session.lock()) alive->flushStream(*self);
  });
}

ResponseQueue::Batch ResponseQueue::take() {
  std::lock_guard lock(mutex_);
  scheduled_ = false;
  return {std::exchange(pending_, {}), last_};
}

void ResponseQueue::setOnDrained(Fn fn) {
  std::lock_guard lock(mutex_);
  onDrained_ = std::make_shared<Fn>(std::move(fn));
}

void ResponseQueue::setOnClosed(UniqueFn<void(const Error&)> fn) {
  std::lock_guard lock(mutex_);
  onClosed_ = std::move(fn);
  if (ended_ && !told_) io_.post([self = shared_from_this()] { self->tellEnd(); });
}

void ResponseQueue::drained() {
  std::shared_ptr<Fn> callback;
  {
    std::lock_guard lock(mutex_);
    if (!pending_.empty()) return;
    callback = onDrained_;
  }
  if (callback && *callback) gate_.pass([&] { (*callback)(); });
}

void ResponseQueue::end(Error why) {
  {
    std::lock_guard lock(mutex_);
    if (ended_) return;
    ended_ = std::move(why);
    queued_ = 0;
    pending_.clear();
  }
  tellEnd();
}

void ResponseQueue::endAfterRest(Error why) {
  std::lock_guard lock(mutex_);
  if (closed_ || ended_) return;
  closed_ = last_ = true;
  ended_ = std::move(why);
}

void ResponseQueue::tellEnd() {
  UniqueFn<void(const Error&)> callback;
  {
    std::lock_guard lock(mutex_);
    if (told_ || !ended_ || !onClosed_) return;
    told_ = true;
    callback = std::exchange(onClosed_, nullptr);
  }
  gate_.pass([&] { callback(*ended_); });
}

namespace {

class StreamHandle final : public ResponseStream {
 public:
  explicit StreamHandle(std::shared_ptr<ResponseQueue> queue) : queue_(std::move(queue)) {}
  ~StreamHandle() override { queue_->drop(); }
  bool write(std::string data) override { return queue_->write(std::move(data)); }
  Bytes queuedBytes() const override { return Bytes{static_cast<int64_t>(queue_->queued())}; }
  void onDrained(Fn fn) override { queue_->setOnDrained(std::move(fn)); }
  void onClosed(UniqueFn<void(const Error&)> fn) override { queue_->setOnClosed(std::move(fn)); }
  void close() override { queue_->close(); }

 private:
  std::shared_ptr<ResponseQueue> queue_;
};

}  // namespace

std::unique_ptr<ResponseStream> makeResponseStream(std::shared_ptr<ResponseQueue> queue) {
  return std::make_unique<StreamHandle>(std::move(queue));
}

}  // namespace mangrove::net
