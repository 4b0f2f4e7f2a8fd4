#pragma once
// The watches of one store: who is where in the history, and whom to wake. Shared with the Watch
// handles, which may outlive the store. Owner thread only.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/fn.h"
#include "base/text/interned.h"
#include "store/history.h"
#include "store/watch.h"

namespace mangrove::store {

class Feed;

struct WatchState {
  std::shared_ptr<Feed> feed;
  Interned resource;
  std::string ns;
  Revision position;
  Fn wake;
  bool waiting = false;  // took everything there was and wants to be woken
};

class Feed {
 public:
  explicit Feed(const History& history) : history_(&history) {}

  void enter(const std::shared_ptr<WatchState>& watch);
  void leave(WatchState& watch);
  Result<std::vector<Event>> take(WatchState& watch, size_t max) const;
  Revision position(const WatchState& watch) const;

  // The visible state has reached this revision.
  void advance(Revision visible) { visible_ = visible; }
  // Remembers who waits for this change; wake() then calls each of them once.
  void note(const Event& event);
  void wake();
  // The store is gone.
  void close() { history_ = nullptr; }

 private:
  const History* history_;
  Revision visible_;
  std::unordered_map<Interned, std::vector<std::weak_ptr<WatchState>>> watches_;
  std::vector<std::weak_ptr<WatchState>> toWake_;
};

}  // namespace mangrove::store
