#pragma once
// Following the changes of one resource. A Watch is a position in the store's bounded history, not
// a queue: a reader that is slow costs nothing, and one that fell out of the window is told so.
//
//   Result<Watch> watch = store.watch(pods, "default", page.revision, [&] { pump(); });
//   void pump() {
//     auto events = watch->take(64);              // call again while it gives events
//     if (!events) return end(events.error());    // kGone: list again
//     …                                           // empty: `wake` will be called
//   }
//
// Owner thread only, the wake callback included. The Watch ends the subscription when destroyed; it
// may outlive the store.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/fn.h"
#include "base/result.h"
#include "store/object.h"
#include "store/revision.h"

namespace mangrove::store {

enum class EventType : uint8_t { kAdded, kModified, kDeleted };
const char* eventTypeName(EventType type);  // "ADDED", "MODIFIED", "DELETED"

// One change. Selector watches compare both sides: an object that stops matching is gone for them.
struct Event {
  EventType type = EventType::kAdded;
  ObjectPtr object;    // kDeleted: its last state, with the revision of the removal
  ObjectPtr previous;  // null for kAdded

  Revision revision() const { return object->revision(); }
};

struct WatchState;

class Watch {
 public:
  explicit Watch(std::shared_ptr<WatchState> state);
  Watch(Watch&&) noexcept = default;
  Watch& operator=(Watch&& other) noexcept;
  ~Watch();

  // The next events in the order of their revisions, at most `max`. Empty: nothing more now, and
  // wake is called once when there is. kGone: the window has moved past this position;
  // kUnavailable: the store was closed.
  Result<std::vector<Event>> take(size_t max);
  // Everything of this resource up to here has been taken: what a bookmark says. Moves on with the
  // store while there is nothing to take.
  Revision position() const;

 private:
  std::shared_ptr<WatchState> state_;
};

}  // namespace mangrove::store
