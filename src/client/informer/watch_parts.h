#pragma once
// Parts of ListWatch that stand by themselves: where to resume, how much is on its way, and how an
// event is read. Internal to informer/.

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "client/informer/json_slices.h"
#include "client/informer/list_watch.h"
#include "json/view.h"

namespace mangrove::client {

// Where to resume. Invariant: everything up to `base_` has certainly been received; `recent_` are
// the versions since then in order of arrival, never more than kOverlap, because one that a bad
// proxy moved across a break is at most that far back.
class Position {
 public:
  void restart(std::string_view version) {
    base_ = version;
    recent_.clear();
  }
  void saw(std::string_view version) {
    recent_.emplace_back(version);
    if (recent_.size() <= kOverlap) return;
    base_ = std::move(recent_.front());
    recent_.pop_front();
  }
  // The stream was whole up to here.
  void settle() {
    if (!recent_.empty()) restart(std::string(recent_.back()));
  }
  const std::string& resume() const { return base_; }

 private:
  std::string base_;
  std::deque<std::string> recent_;
};

// Bytes on their way from the I/O thread to home. Too many of them stop the reading, so that a busy
// home does not pile them up in memory. Invariant: reading was stopped by us exactly while choked_;
// who takes the last bytes out resumes it, so it is never stopped for good.
class Backlog {
 public:
  // I/O thread. False: stop reading.
  bool add(size_t bytes) {
    std::lock_guard lock(mutex_);
    bytes_ += bytes;
    if (bytes_ < kHigh) return true;
    choked_ = true;
    return false;
  }
  // Home. True: go on reading.
  bool remove(size_t bytes) {
    std::lock_guard lock(mutex_);
    bytes_ -= bytes;
    return bytes_ <= kLow && std::exchange(choked_, false);
  }
  bool choked() const {
    std::lock_guard lock(mutex_);
    return choked_;
  }

 private:
  static constexpr size_t kHigh = size_t{4} << 20;
  static constexpr size_t kLow = size_t{1} << 20;
  mutable std::mutex mutex_;
  size_t bytes_ = 0;
  bool choked_ = false;
};

// The event without a look at its object, in the very form that servers use: these two members in
// this order, no blanks. Whether the rest is one object is for the parser to tell; when it refuses,
// sliceEvent() knows better. nullopt: another form.
std::optional<EventSlice> usualEvent(std::string_view line);
// An object with the names that every object has; views into `raw` and `doc`.
Result<Received> receive(json::Doc& doc, std::string_view raw);
std::string_view textOf(json::View view);  // "" where there is no text

}  // namespace mangrove::client
