#include "base/mailbox.h"

#include <algorithm>
#include <utility>

namespace mangrove {

// A message may own things whose destructors post again, so messages are never destroyed under the
// lock.

void Mailbox::post(Fn message) {
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return;
    queue_.push_back(std::move(message));
  }
  arrived_.notify_one();
}

void Mailbox::stop() {
  std::deque<Fn> dropped;
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    dropped.swap(queue_);
  }
  arrived_.notify_all();
}

bool Mailbox::stopped() const {
  std::lock_guard lock(mutex_);
  return stopped_;
}

Fn Mailbox::take() {
  if (queue_.empty()) return {};
  Fn message = std::move(queue_.front());
  queue_.pop_front();
  return message;
}

void Mailbox::run() {
  for (;;) {
    Fn message;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
      if (stopped_) return;
      message = take();
    }
    message();
  }
}

size_t Mailbox::drain() {
  for (size_t done = 0;; ++done) {
    Fn message;
    {
      std::lock_guard lock(mutex_);
      message = take();
    }
    if (!message) return done;
    message();
  }
}

bool Mailbox::runOne(Duration limit) {
  // The library adds the limit to its own now; a year keeps that sum in range.
  constexpr Duration kLongest = std::chrono::hours(24 * 365);
  Fn message;
  {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, std::min(limit, kLongest),
                      [this] { return stopped_ || !queue_.empty(); });
    message = take();
  }
  if (!message) return false;
  message();
  return true;
}

}  // namespace mangrove
