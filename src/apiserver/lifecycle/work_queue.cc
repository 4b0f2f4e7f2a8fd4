#include "apiserver/lifecycle/work_queue.h"

#include <algorithm>

namespace mangrove::apiserver {

namespace {

constexpr int kPerTurn = 64;
constexpr int kMostDoublings = 6;  // a minute

}  // namespace

void WorkQueue::add(store::Key key) {
  if (!queued_.insert(store::keyText(key)).second) return;
  waiting_.push_back(std::move(key));
  schedule();
}

void WorkQueue::retry(store::Key key) {
  Failing& failing = failing_[store::keyText(key)];
  const Duration pause = std::chrono::seconds(1) * (1 << std::min(failing.times++, kMostDoublings));
  failing.timer = context_.clock.after(
      pause, [this, key = std::move(key)] { context_.owner.post([this, key] { add(key); }); });
}

void WorkQueue::forget(const store::Key& key) {
  failing_.erase(store::keyText(key));
}

void WorkQueue::schedule() {
  if (scheduled_) return;
  scheduled_ = true;
  context_.owner.post([this] { run(); });
}

void WorkQueue::run() {
  scheduled_ = false;
  for (int i = 0; i < kPerTurn && !waiting_.empty(); ++i) {
    const store::Key key = std::move(waiting_.front());
    waiting_.pop_front();
    queued_.erase(store::keyText(key));
    work_(key);
  }
  if (!waiting_.empty()) schedule();
}

}  // namespace mangrove::apiserver
