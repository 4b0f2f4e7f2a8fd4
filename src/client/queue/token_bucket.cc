#include "client/queue/token_bucket.h"

#include <algorithm>
#include <cmath>

namespace mangrove::client {

namespace {
// Rounding of doubles must not turn "exactly one token" into a wait of one nanosecond for ever.
constexpr double kWhole = 1.0 - 1e-9;
}  // namespace

void TokenBucket::refill(MonoTime now) {
  if (!started_) {
    started_ = true;
    filledAt_ = now;
  }
  if (now <= filledAt_) return;  // a clock that stands still or steps back gives nothing
  double seconds = std::chrono::duration<double>(now - filledAt_).count();
  tokens_ = std::min(burst_, tokens_ + seconds * perSecond_);
  filledAt_ = now;
}

Duration TokenBucket::timeFor(double tokens) const {
  if (tokens <= 0) return Duration{0};
  return Duration{static_cast<int64_t>(std::ceil(tokens / perSecond_ * 1e9))};
}

bool TokenBucket::tryTake(MonoTime now) {
  if (unlimited()) return true;
  refill(now);
  if (tokens_ < kWhole) return false;
  tokens_ -= 1;
  return true;
}

Duration TokenBucket::reserve(MonoTime now) {
  if (unlimited()) return Duration{0};
  refill(now);
  tokens_ -= 1;
  return tokens_ >= kWhole - 1 ? Duration{0} : timeFor(-tokens_);
}

Duration TokenBucket::untilNext(MonoTime now) {
  if (unlimited()) return Duration{0};
  refill(now);
  return tokens_ >= kWhole ? Duration{0} : timeFor(1 - tokens_);
}

double TokenBucket::tokens(MonoTime now) {
  refill(now);
  return tokens_;
}

}  // namespace mangrove::client
