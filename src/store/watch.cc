#include "store/watch.h"

#include <algorithm>

#include "store/feed.h"

namespace mangrove::store {

const char* eventTypeName(EventType type) {
  switch (type) {
    case EventType::kAdded:
      return "ADDED";
    case EventType::kModified:
      return "MODIFIED";
    case EventType::kDeleted:
      return "DELETED";
  }
  return "UNKNOWN";
}

Watch::Watch(std::shared_ptr<WatchState> state) : state_(std::move(state)) {
  state_->feed->enter(state_);
}

Watch& Watch::operator=(Watch&& other) noexcept {
  if (this == &other) return *this;
  if (state_) state_->feed->leave(*state_);
  state_ = std::move(other.state_);
  return *this;
}

Watch::~Watch() {
  if (state_) state_->feed->leave(*state_);
}

Result<std::vector<Event>> Watch::take(size_t max) {
  return state_->feed->take(*state_, max);
}

Revision Watch::position() const {
  return state_->feed->position(*state_);
}

}  // namespace mangrove::store
