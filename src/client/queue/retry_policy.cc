#include "client/queue/retry_policy.h"

#include <algorithm>

namespace mangrove::client {

namespace {

bool worthRepeating(const Attempt& attempt) {
  if (attempt.finalAnswer) return false;
  switch (attempt.httpStatus) {
    case 0:
      return attempt.neverSent || attempt.mayRepeat;
    case 429:
      return true;
    case 500:
    case 502:
    case 503:
    case 504:
      return attempt.mayRepeat;
    default:
      return false;
  }
}

Duration scaled(Duration base, double factor) {
  return Duration(static_cast<int64_t>(static_cast<double>(base.count()) * factor));
}

}  // namespace

std::optional<Duration> retryWait(const Attempt& attempt, Rng& rng) {
  if (attempt.tries >= attempt.maxTries || !worthRepeating(attempt)) return std::nullopt;
  Duration wait;
  if (attempt.retryAfter) {
    // Not earlier than asked for; the spread is a tenth, at least enough to break a lock step.
    wait = scaled(*attempt.retryAfter, 1 + 0.1 * rng.unit());
  } else {
    Duration grown =
        std::min(kLongestRetry, kFirstRetry * (int64_t{1} << std::min(attempt.tries - 1, 20)));
    wait = scaled(grown, 0.5 + rng.unit());
  }
  if (wait >= attempt.left) return std::nullopt;
  return wait;
}

Duration Backoff::next(Rng& rng) {
  Duration base = next_;
  next_ = std::min(longest_, next_ * 2);
  return scaled(base, 1 + jitter_ * rng.unit());
}

}  // namespace mangrove::client
