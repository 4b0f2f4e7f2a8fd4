#include "client/queue/work_queue.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "client/queue/token_bucket.h"

namespace mangrove::client {

// Invariants (mutex_ held): a key in `queue_` is in `dirty_` and not in `working_`; a key in both
// `dirty_` and `working_` goes to `queue_` when it is done.
struct WorkQueue::State : std::enable_shared_from_this<WorkQueue::State> {
  State(Clock& clock, WorkQueueOptions options)
      : clock_(clock), options_(std::move(options)), bucket_(options_.perSecond, options_.burst) {}

  // Returns whether a key became ready.
  bool addLocked(const std::string& key) {
    if (shutDown_) return false;
    ++stats_.adds;
    if (!dirty_.insert(key).second) {
      ++stats_.merged;
      return false;
    }
    if (working_.contains(key)) return false;
    queue_.push_back(key);
    return true;
  }

  void add(const std::string& key) {
    bool ready = false;
    {
      std::lock_guard lock(mutex_);
      ready = addLocked(key);
    }
    if (ready) announce();
  }

  void addAfter(const std::string& key, Duration delay) {
    if (delay <= Duration{0}) return add(key);
    std::lock_guard lock(mutex_);
    if (shutDown_) return;
    MonoTime when = clock_.mono() + delay;
    auto [at, fresh] = times_.try_emplace(key, when);
    if (!fresh) {
      if (at->second <= when) return;
      waiting_.erase({at->second, key});
      at->second = when;
    }
    waiting_.insert({when, key});
    armLocked();
  }

  // One timer for the earliest key. A timer may fire late or twice; ripen() looks at the times.
  void armLocked() {
    if (waiting_.empty() || shutDown_) return;
    MonoTime first = waiting_.begin()->first;
    if (armedFor_ && *armedFor_ <= first) return;
    armedFor_ = first;
    timer_ = clock_.at(first, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->ripen();
    });
  }

  void ripen() {
    bool ready = false;
    {
      std::lock_guard lock(mutex_);
      armedFor_.reset();
      MonoTime now = clock_.mono();
      while (!waiting_.empty() && waiting_.begin()->first <= now) {
        std::string key = waiting_.begin()->second;
        waiting_.erase(waiting_.begin());
        times_.erase(key);
        ready |= addLocked(key);
      }
      armLocked();
    }
    if (ready) announce();
  }

  Duration nextDelay(const std::string& key) {
    std::lock_guard lock(mutex_);
    ++stats_.retries;
    int failures = failures_[key]++;
    double grown = static_cast<double>(options_.firstDelay.count()) *
                   static_cast<double>(uint64_t{1} << std::min(failures, 62));
    double cap = static_cast<double>(options_.maxDelay.count());
    Duration own{static_cast<int64_t>(std::min(grown, cap))};
    return std::max(own, bucket_.reserve(clock_.mono()));
  }

  std::optional<std::string> takeLocked() {
    if (queue_.empty()) return std::nullopt;
    std::string key = std::move(queue_.front());
    queue_.pop_front();
    dirty_.erase(key);
    working_.insert(key);
    ++stats_.taken;
    return key;
  }

  void done(const std::string& key) {
    bool ready = false;
    {
      std::lock_guard lock(mutex_);
      CHECK(working_.erase(key) == 1, "{}: done('{}') without a matching get", options_.name, key);
      if (dirty_.contains(key)) {
        queue_.push_back(key);
        ready = true;
      }
      if (working_.empty()) changed_.notify_all();
    }
    if (ready) announce();
  }

  void announce() {
    changed_.notify_all();
    std::shared_ptr<Fn> wake;
    {
      std::lock_guard lock(mutex_);
      wake = wake_;
    }
    if (wake && *wake) (*wake)();
  }

  void shutDown() {
    Timer cancelled;
    std::lock_guard lock(mutex_);
    shutDown_ = true;
    waiting_.clear();
    times_.clear();
    cancelled = std::move(timer_);
    changed_.notify_all();
  }

  Clock& clock_;
  const WorkQueueOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> queue_;
  std::unordered_set<std::string> dirty_;
  std::unordered_set<std::string> working_;
  std::set<std::pair<MonoTime, std::string>> waiting_;
  std::unordered_map<std::string, MonoTime> times_;
  std::unordered_map<std::string, int> failures_;
  TokenBucket bucket_;
  std::optional<MonoTime> armedFor_;
  Timer timer_;
  std::shared_ptr<Fn> wake_;
  WorkQueueStats stats_;
  bool shutDown_ = false;
};

WorkQueue::WorkQueue(Clock& clock, WorkQueueOptions options)
    : state_(std::make_shared<State>(clock, std::move(options))) {}

WorkQueue::~WorkQueue() {
  onWake(nullptr);
  shutDown();
}

void WorkQueue::add(std::string_view key) {
  state_->add(std::string(key));
}

void WorkQueue::addAfter(std::string_view key, Duration delay) {
  state_->addAfter(std::string(key), delay);
}

void WorkQueue::addRateLimited(std::string_view key) {
  std::string owned(key);
  state_->addAfter(owned, state_->nextDelay(owned));
}

void WorkQueue::forget(std::string_view key) {
  std::lock_guard lock(state_->mutex_);
  state_->failures_.erase(std::string(key));
}

int WorkQueue::failures(std::string_view key) const {
  std::lock_guard lock(state_->mutex_);
  auto at = state_->failures_.find(std::string(key));
  return at == state_->failures_.end() ? 0 : at->second;
}

std::optional<std::string> WorkQueue::tryGet() {
  std::lock_guard lock(state_->mutex_);
  return state_->takeLocked();
}

std::optional<std::string> WorkQueue::get() {
  std::unique_lock lock(state_->mutex_);
  state_->changed_.wait(lock, [&] { return !state_->queue_.empty() || state_->shutDown_; });
  return state_->takeLocked();
}

void WorkQueue::done(std::string_view key) {
  state_->done(std::string(key));
}

void WorkQueue::onWake(Fn wake) {
  std::lock_guard lock(state_->mutex_);
  state_->wake_ = wake ? std::make_shared<Fn>(std::move(wake)) : nullptr;
}

void WorkQueue::shutDown() {
  state_->shutDown();
}

void WorkQueue::shutDownAndDrain() {
  state_->shutDown();
  std::unique_lock lock(state_->mutex_);
  state_->changed_.wait(lock, [&] { return state_->queue_.empty() && state_->working_.empty(); });
}

bool WorkQueue::shuttingDown() const {
  std::lock_guard lock(state_->mutex_);
  return state_->shutDown_;
}

size_t WorkQueue::ready() const {
  std::lock_guard lock(state_->mutex_);
  return state_->queue_.size();
}

size_t WorkQueue::delayed() const {
  std::lock_guard lock(state_->mutex_);
  return state_->waiting_.size();
}

size_t WorkQueue::working() const {
  std::lock_guard lock(state_->mutex_);
  return state_->working_.size();
}

WorkQueueStats WorkQueue::stats() const {
  std::lock_guard lock(state_->mutex_);
  return state_->stats_;
}

}  // namespace mangrove::client
