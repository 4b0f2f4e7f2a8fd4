#pragma once
// Times and durations as Kubernetes writes them: RFC 3339 in UTC, and Go's duration strings.
//
//   parseTime("2026-03-01T13:00:00.25+01:00")    → 12:00:00.25 UTC
//   formatTime(t)       "2026-03-01T12:00:00Z"              metav1.Time
//   formatMicroTime(t)  "2026-03-01T12:00:00.250000Z"       metav1.MicroTime
//   parseDuration("1h30m"), formatDuration(…) "1h30m0s"     metav1.Duration
//
// Pure functions, any thread.

#include <string>
#include <string_view>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove {

// Go's zero time, 0001-01-01T00:00:00Z: "no time" in Kubernetes objects.
inline constexpr WallTime kZeroTime{std::chrono::microseconds{-62135596800LL * 1000000}};

// Date and time with "T", seconds with any number of fractional digits (cut to microseconds), "Z"
// or an offset. Errors say which part is wrong.
Result<WallTime> parseTime(std::string_view text);
std::string formatTime(WallTime time);       // whole seconds, the fraction is dropped
std::string formatMicroTime(WallTime time);  // always six digits

// Go's time.ParseDuration: signed sequence of decimal numbers with units ns, us (µs, μs), ms, s, m,
// h; "0" alone needs no unit. Finer than a nanosecond is cut. Out of range (about 292 years) is an
// error.
Result<Duration> parseDuration(std::string_view text);
// Go's Duration.String: "1h30m0s", "1.5s", "100ms", "0s".
std::string formatDuration(Duration duration);

}  // namespace mangrove
