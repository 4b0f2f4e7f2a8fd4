#pragma once
// Whether and when a request is sent again: one pure function, so that "never blindly repeat a
// write" is a table in a test. Any thread; the Rng is the caller's.
//
//   auto wait = retryWait({.mayRepeat = mayRepeat(r), .tries = 1, .httpStatus = 429, …}, rng);
//
// Rules. An answer that says the server did not act (429) or a request that never left this process
// may be repeated for every request. Anything uncertain (a connection that broke after sending, a
// timeout, 500, 502, 503, 504) only for requests that may be repeated. Other answers are final. The
// wait is what the server asked for (Retry-After) or a doubling back-off, both with jitter so that
// clients do not return in step; never beyond the deadline.

#include <optional>

#include "base/number/rng.h"
#include "base/number/units.h"

namespace mangrove::client {

struct Attempt {
  bool mayRepeat = false;
  int tries = 1;  // made so far, this one included
  int maxTries = 5;
  int httpStatus = 0;        // 0: no answer
  bool neverSent = false;    // without an answer: not one byte left this process
  bool finalAnswer = false;  // a status that is this request's normal answer (429 of an eviction)
  std::optional<Duration> retryAfter;
  Duration left{};  // until the deadline
};

inline constexpr Duration kFirstRetry = std::chrono::milliseconds(100);
inline constexpr Duration kLongestRetry = std::chrono::seconds(10);

// nullopt: give up and report.
std::optional<Duration> retryWait(const Attempt& attempt, Rng& rng);

// Doubling delays with jitter for loops that never give up (list–watch, election).
class Backoff {
 public:
  Backoff(Duration first, Duration longest, double jitter = 0.5)
      : first_(first), longest_(longest), next_(first), jitter_(jitter) {}
  // The delay before the next try: within [d, d·(1+jitter)], d doubling up to `longest`.
  Duration next(Rng& rng);
  void reset() { next_ = first_; }
  bool fresh() const { return next_ == first_; }

 private:
  Duration first_, longest_, next_;
  double jitter_;
};

}  // namespace mangrove::client
