#pragma once
// What will happen, in order of time; what was put in first comes first at the same moment. One
// owner.
//
//   queue.put({.at = 60, .kind = Event::Kind::kOutage, .subject = 3});
//   while (auto event = queue.next(now)) …

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "sim/trace.h"

namespace mangrove::sim {

struct Event {
  enum class Kind : uint8_t { kService, kJob, kDeploy, kReplace, kOutage, kRepair, kEnd };
  Seconds at = 0;
  Kind kind{};
  size_t subject = 0;  // of the trace: service, job or outage
  size_t part = 0;     // kReplace: the replica
  uint64_t order = 0;  // the queue's
};

class EventQueue {
 public:
  void put(Event event) {
    event.order = ++put_;
    events_.push(event);
  }
  // The next of those that are due at `now`.
  std::optional<Event> next(Seconds now) {
    if (events_.empty() || events_.top().at > now) return std::nullopt;
    Event out = events_.top();
    events_.pop();
    return out;
  }
  size_t size() const { return events_.size(); }

 private:
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  uint64_t put_ = 0;
};

}  // namespace mangrove::sim
