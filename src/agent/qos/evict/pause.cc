#include "agent/qos/evict/pause.h"

#include <algorithm>

namespace mangrove::agent {

void EvictionPause::evicted(MonoTime now) {
  const bool repeats = last_ != MonoTime::min() && now - last_ <= kRepeats;
  // Within a pause nothing doubles: it is the same trouble.
  const bool during = last_ != MonoTime::min() && now < until_;
  if (!during) length_ = repeats ? std::min(2 * length_, kLongest) : kFirst;
  last_ = now;
  until_ = now + length_;
}

bool EvictionPause::isOn(MonoTime now, bool trouble) const {
  if (last_ == MonoTime::min() || length_ == Duration::zero()) return false;
  return now < until_ || (trouble && now - last_ <= kRepeats);
}

}  // namespace mangrove::agent
