#include "store/history.h"

#include <algorithm>
#include <utility>

namespace mangrove::store {

// The newest version lives in the collections anyway; a change costs what it superseded.
size_t History::cost(const Event& event) {
  size_t bytes = sizeof(Event) + sizeof(Log*);
  if (event.previous) bytes += event.previous->bytes() + sizeof(Object);
  if (event.type == EventType::kDeleted) bytes += event.object->bytes() + sizeof(Object);
  return bytes;
}

void History::push(Event event) {
  const Interned resource = event.object->resource();
  Log& log = logs_.try_emplace(resource, Log{{}, loadedStart_}).first->second;
  bytes_ += cost(event);
  log.events.push_back(std::move(event));
  order_.push_back(&log);
  while (order_.size() > maxEvents_ || (bytes_ > maxBytes_ && !order_.empty())) evict();
}

void History::evict() {
  Log& log = *order_.front();
  const Event& event = log.events.front();
  bytes_ -= cost(event);
  log.lost = start_ = trim_.start = event.revision();
  if (event.previous) trim_.rows.push_back(event.previous->revision());
  if (event.type == EventType::kDeleted) trim_.rows.push_back(event.revision());
  log.events.pop_front();
  order_.pop_front();
}

void History::redeclare(Interned resource, const std::function<ObjectPtr(const ObjectPtr&)>& make) {
  const auto at = logs_.find(resource);
  if (at == logs_.end()) return;
  for (Event& event : at->second.events) {
    event.object = make(event.object);
    if (event.previous) event.previous = make(event.previous);
  }
}

Revision History::lost(Interned resource) const {
  const auto at = logs_.find(resource);
  return at == logs_.end() ? loadedStart_ : at->second.lost;
}

const std::deque<Event>* History::events(Interned resource) const {
  const auto at = logs_.find(resource);
  return at == logs_.end() ? nullptr : &at->second.events;
}

Trim History::takeTrim() {
  return std::exchange(trim_, Trim{trim_.start, {}});
}

void History::giveBack(const Trim& trim) {
  trim_.start = std::max(trim_.start, trim.start);
  trim_.rows.insert(trim_.rows.end(), trim.rows.begin(), trim.rows.end());
}

}  // namespace mangrove::store
