#include "agent/qos/evict/pause.h"

#include <algorithm>
#include <optional>

namespace mangrove::agent {

void EvictionPause::evicted(MonoTime now) {
  const bool repeats = last_ != MonoTime::min() && now - last_ <= kRepeats;
  // Within a pause nothing doubles: it is the same trouble.
  const bool during = last_ != MonoTime::min() && now < until_;
  if (!during) length_ = repeats ? std::min(2 * length_, kLongest) : kFirst;
  last_ = now;
  until_ = now + length_;
}

json::Value EvictionPause::state() const {
  if (last_ == MonoTime::min()) return nullptr;
  return json::Object{{"last", last_.time_since_epoch().count()},
                      {"until", until_.time_since_epoch().count()},
                      {"length", length_.count()}};
}

void EvictionPause::restore(const json::Value& state) {
  const json::Object* top = state.if_object();
  const auto number = [&](const char* key) -> std::optional<int64_t> {
    const json::Value* value = top ? top->if_contains(key) : nullptr;
    return value && value->is_int64() ? std::optional(value->get_int64()) : std::nullopt;
  };
  const auto last = number("last"), until = number("until"), length = number("length");
  if (!last || !until || !length) return;
  last_ = MonoTime(Duration(*last));
  until_ = MonoTime(Duration(*until));
  length_ = std::clamp(Duration(*length), Duration::zero(), kLongest);
}

bool EvictionPause::isOn(MonoTime now, bool trouble) const {
  if (last_ == MonoTime::min() || length_ == Duration::zero()) return false;
  return now < until_ || (trouble && now - last_ <= kRepeats);
}

}  // namespace mangrove::agent
