#include "store/feed.h"

#include <algorithm>
#include <utility>

namespace mangrove::store {

void Feed::enter(const std::shared_ptr<WatchState>& watch) {
  watches_[watch->resource].push_back(watch);
}

void Feed::leave(WatchState& watch) {
  watch.waiting = false;
  auto& watches = watches_[watch.resource];
  std::erase_if(watches, [&](const std::weak_ptr<WatchState>& other) {
    const auto held = other.lock();
    return held == nullptr || held.get() == &watch;
  });
}

Result<std::vector<Event>> Feed::take(WatchState& watch, size_t max) const {
  if (history_ == nullptr) return fail(Code::kUnavailable, "the store was closed");
  watch.position = position(watch);
  if (!history_->covers(watch.resource, watch.position))
    return fail(Code::kGone, "too old resource version: {} ({})", watch.position.v,
                history_->lost(watch.resource).v);
  std::vector<Event> taken;
  if (const std::deque<Event>* events = history_->events(watch.resource)) {
    auto at = std::upper_bound(
        events->begin(), events->end(), watch.position,
        [](Revision position, const Event& event) { return position < event.revision(); });
    for (; at != events->end() && taken.size() < max; ++at) {
      watch.position = at->revision();
      if (watch.ns.empty() || at->object->ns() == watch.ns) taken.push_back(*at);
    }
  }
  watch.waiting = taken.empty();
  return taken;
}

// Whoever waits has been told of no change up to the visible revision, so nothing up to there is
// his.
Revision Feed::position(const WatchState& watch) const {
  return watch.waiting ? std::max(watch.position, visible_) : watch.position;
}

void Feed::note(const Event& event) {
  const auto at = watches_.find(event.object->resource());
  if (at == watches_.end()) return;
  for (const std::weak_ptr<WatchState>& weak : at->second) {
    const auto watch = weak.lock();
    if (!watch || !watch->waiting) continue;
    if (!watch->ns.empty() && event.object->ns() != watch->ns) continue;
    // What is older was not for this watch; the change itself comes with the next take().
    watch->position = std::max(watch->position, Revision{event.revision().v - 1});
    watch->waiting = false;
    toWake_.push_back(weak);
  }
}

// A callback may end its own or another watch, or start one, or commit.
void Feed::wake() {
  for (const std::weak_ptr<WatchState>& weak : std::exchange(toWake_, {}))
    if (const auto watch = weak.lock(); watch && watch->wake) watch->wake();
}

}  // namespace mangrove::store
