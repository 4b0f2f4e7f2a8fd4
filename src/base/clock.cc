#include "base/clock.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>

namespace mangrove {
namespace {

using std::chrono::microseconds;

// Waiting callbacks by time; those of the same time in the order of arrival.
class Agenda {
 public:
  using Key = std::pair<MonoTime, uint64_t>;

  Key add(MonoTime when, Fn fn) {
    Key key{when, next_++};
    waiting_.emplace(key, std::move(fn));
    return key;
  }
  // The callback is handed out, so that the caller destroys it after unlocking.
  Fn remove(const Key& key) {
    auto node = waiting_.extract(key);
    return node ? std::move(node.mapped()) : Fn();
  }
  Fn takeFirst() { return std::move(waiting_.extract(waiting_.begin()).mapped()); }
  MonoTime firstAt() const {
    return waiting_.empty() ? MonoTime::max() : waiting_.begin()->first.first;
  }
  size_t size() const { return waiting_.size(); }

 private:
  std::map<Key, Fn> waiting_;
  uint64_t next_ = 0;
};

class RealClock final : public Clock {
 public:
  WallTime wall() const override {
    return std::chrono::floor<microseconds>(std::chrono::system_clock::now());
  }
  MonoTime mono() const override { return std::chrono::steady_clock::now(); }

  Timer at(MonoTime when, Fn fn) override {
    std::unique_lock lock(mutex_);
    startThread();
    const bool sooner = when < agenda_.firstAt();
    const Agenda::Key key = agenda_.add(when, std::move(fn));
    lock.unlock();
    if (sooner) changed_.notify_one();
    return Timer([this, key] { cancel(key); });
  }

 private:
  void startThread() {
    if (running_) return;
    running_ = true;
    std::thread([this] { serve(); }).detach();
  }

  void cancel(const Agenda::Key& key) {
    Fn dropped;
    std::lock_guard lock(mutex_);
    dropped = agenda_.remove(key);
  }

  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const MonoTime next = agenda_.firstAt();
      if (next == MonoTime::max()) {
        changed_.wait(lock);
      } else if (next > mono()) {
        changed_.wait_until(lock, next);
      } else {
        runFirst(lock);
      }
    }
  }

  void runFirst(std::unique_lock<std::mutex>& lock) {
    Fn due = agenda_.takeFirst();
    lock.unlock();
    due();
    due = nullptr;  // what it captured must not be destroyed under the lock
    lock.lock();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Agenda agenda_;
  bool running_ = false;
};

}  // namespace

Timer& Timer::operator=(Timer&& other) noexcept {
  if (this != &other) {
    reset();
    cancel_ = std::exchange(other.cancel_, nullptr);
  }
  return *this;
}

void Timer::reset() {
  if (Fn cancel = std::exchange(cancel_, nullptr)) cancel();
}

Timer Clock::after(Duration delay, Fn fn) {
  const MonoTime now = mono();
  const bool endless = delay > MonoTime::max() - std::max(now, MonoTime{});
  return at(endless ? MonoTime::max() : now + delay, std::move(fn));
}

Clock& realClock() {
  // Leaked on purpose: its thread may still look at it while the process ends.
  static RealClock* clock = new RealClock;
  return *clock;
}

struct VirtualClock::Shared {
  std::mutex mutex;
  MonoTime now{};
  Duration wallStep{0};
  Agenda agenda;
};

std::shared_ptr<VirtualClock::Shared> VirtualClock::makeShared() {
  return std::make_shared<Shared>();
}

WallTime VirtualClock::wall() const {
  std::lock_guard lock(shared_->mutex);
  return start_ +
         std::chrono::floor<microseconds>(shared_->now.time_since_epoch() + shared_->wallStep);
}

MonoTime VirtualClock::mono() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->now;
}

Timer VirtualClock::at(MonoTime when, Fn fn) {
  std::lock_guard lock(shared_->mutex);
  const Agenda::Key key = shared_->agenda.add(when, std::move(fn));
  return Timer([weak = std::weak_ptr(shared_), key] {
    auto shared = weak.lock();
    if (!shared) return;
    Fn dropped;
    std::lock_guard inner(shared->mutex);
    dropped = shared->agenda.remove(key);
  });
}

void VirtualClock::advance(Duration by) {
  const std::shared_ptr<Shared> shared = shared_;  // a callback may end the clock
  std::unique_lock lock(shared->mutex);
  const MonoTime target = shared->now + by;
  while (shared->agenda.firstAt() <= target && shared->agenda.size() > 0) {
    shared->now = std::max(shared->now, shared->agenda.firstAt());
    Fn due = shared->agenda.takeFirst();
    lock.unlock();
    due();
    due = nullptr;
    lock.lock();
  }
  shared->now = std::max(shared->now, target);
}

size_t VirtualClock::pending() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->agenda.size();
}

MonoTime VirtualClock::nextAt() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->agenda.firstAt();
}

void VirtualClock::stepWall(Duration by) {
  std::lock_guard lock(shared_->mutex);
  shared_->wallStep += by;
}

}  // namespace mangrove
