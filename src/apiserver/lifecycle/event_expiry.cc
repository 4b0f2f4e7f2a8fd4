#include "apiserver/lifecycle/event_expiry.h"

#include <algorithm>

#include "apiserver/core/commit.h"
#include "apiserver/core/event_life.h"

namespace mangrove::apiserver {

namespace {

constexpr size_t kPerSweep = 256;
// Expiries a moment apart are removed together.
constexpr Duration kShortestPause = std::chrono::seconds(1);
constexpr Duration kPauseAfterFailure = std::chrono::minutes(1);

}  // namespace

size_t EventExpiry::surplus() const {
  static const Interned events = Resources::storedName("", "events");
  return eventSurplus(context_.store.count(events));
}

// The more there are the shorter they live, so a new one may be the first to go.
void EventExpiry::changed(const Resource&, const store::ObjectPtr& now, const store::ObjectPtr&) {
  if (!now || !now->expireAt()) return;
  const bool sooner = *now->expireAt() < armedFor_;
  const bool crowded = surplus() > 0 && armedFor_ > context_.clock.wall() + kShortestPause;
  if (!armed_ || sooner || crowded) arm();
}

void EventExpiry::arm() {
  const auto next = context_.store.nextExpiry();
  if (!next || removing_ > 0) return;
  const WallTime now = context_.clock.wall();
  const Duration least = failed_ ? kPauseAfterFailure : kShortestPause;
  const Duration pause = surplus() > 0 ? least : std::max<Duration>(*next - now, least);
  armed_ = true;
  armedFor_ = now + std::chrono::duration_cast<WallTime::duration>(pause);
  timer_ = context_.clock.after(pause, [this] { context_.owner.post([this] { sweep(); }); });
}

void EventExpiry::sweep() {
  armed_ = false;
  if (removing_ > 0) return;
  failed_ = false;
  auto old = context_.store.expired(context_.clock.wall(), kPerSweep);
  if (const size_t most = std::min(surplus(), kPerSweep); most > old.size())
    old = context_.store.expired(WallTime::max(), most);
  removing_ = old.size() + 1;  // one for this loop: answers may come while it runs
  for (const auto& object : old) removeOne(object);
  removed(true);
}

void EventExpiry::removeOne(const store::ObjectPtr& object) {
  auto resource = context_.resources.findStored(object->resource());
  auto last = json::parse(*object->json());
  if (!resource || !last || !last->is_object()) return removed(false);
  removeObject(context_, resource, std::move(*last), object,
               [this](const Result<store::ObjectPtr>& result) {
                 // Written again, or deleted by somebody else: fine with us.
                 const bool fine = result || result.error().code() == Code::kConflict ||
                                   result.error().code() == Code::kNotFound;
                 removed(fine);
               });
}

void EventExpiry::removed(bool fine) {
  failed_ = failed_ || !fine;
  if (--removing_ == 0) arm();
}

}  // namespace mangrove::apiserver
