#include "scheduler/watch/bunched_watches.h"

#include "api/wire/kind.h"

namespace mangrove::scheduler {

// What one watch holds back. The mutex is held while the receiver is told, so that events keep
// their order and nobody is told after the watch is gone.
class BunchedWatches::Bunch {
 public:
  Bunch(client::WatchHandler handler, const std::function<bool()>& busy)
      : handler_(std::move(handler)), busy_(busy) {}

  void open() {
    std::lock_guard lock(mutex_);
    if (!closed_ && handler_.onOpen) handler_.onOpen();
  }

  bool add(std::string lines) {
    std::lock_guard lock(mutex_);
    if (closed_) return false;
    if (waiting_.empty())
      waiting_ = std::move(lines);
    else
      waiting_ += lines;
    return (waiting_.size() < kBunch && busy_()) || tell();
  }

  // A receiver who has enough says so again when it is asked in add(): a pause that nobody is
  // waiting for would come after its resume().
  void flush() {
    std::lock_guard lock(mutex_);
    if (!closed_) tell();
  }

  void end(Result<> result) {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    tell();
    closed_ = true;
    if (handler_.onEnd) handler_.onEnd(std::move(result));
  }

  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }

 private:
  bool tell() {
    if (waiting_.empty() || !handler_.onEvents) return true;
    return handler_.onEvents(std::exchange(waiting_, {}));
  }

  std::recursive_mutex mutex_;  // the receiver may end the watch while it is told
  client::WatchHandler handler_;
  const std::function<bool()> busy_;
  std::string waiting_;
  bool closed_ = false;
};

class BunchedWatches::Handle final : public client::Watch {
 public:
  Handle(std::shared_ptr<Bunch> bunch, std::unique_ptr<client::Watch> watch)
      : bunch_(std::move(bunch)), watch_(std::move(watch)) {}
  ~Handle() override { bunch_->close(); }
  void pause() override { watch_->pause(); }
  void resume() override { watch_->resume(); }

 private:
  std::shared_ptr<Bunch> bunch_;
  std::unique_ptr<client::Watch> watch_;
};

std::unique_ptr<client::Watch> BunchedWatches::watch(client::WatchRequest request,
                                                     client::WatchHandler handler) {
  if (request.kind != api::kind::kPod) return client_.watch(std::move(request), std::move(handler));
  auto bunch = std::make_shared<Bunch>(std::move(handler), busy_);
  {
    std::lock_guard lock(mutex_);
    std::erase_if(bunches_, [](const auto& weak) { return weak.expired(); });
    bunches_.push_back(bunch);
  }
  client::WatchHandler own;
  own.onOpen = [bunch] { bunch->open(); };
  own.onEvents = [bunch](std::string lines) { return bunch->add(std::move(lines)); };
  own.onEnd = [bunch](Result<> result) { bunch->end(std::move(result)); };
  auto watch = client_.watch(std::move(request), std::move(own));
  return std::make_unique<Handle>(std::move(bunch), std::move(watch));
}

void BunchedWatches::flush() {
  std::vector<std::shared_ptr<Bunch>> all;
  {
    std::lock_guard lock(mutex_);
    for (const auto& weak : bunches_)
      if (auto bunch = weak.lock()) all.push_back(std::move(bunch));
  }
  for (const auto& bunch : all) bunch->flush();
}

}  // namespace mangrove::scheduler
