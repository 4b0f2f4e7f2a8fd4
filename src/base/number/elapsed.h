#pragma once
// How far two moments of the calendar lie apart.
//
//   if (elapsed(lease.renewTime, now) > kSilence) ...
//
// Kubernetes' zero time (year 1) and the dates that anybody may write into an object are further from today than a
// Duration can say; the subtraction by itself overflows there, and a pod that was never moved was moved just now.

#include <algorithm>

#include "base/number/units.h"

namespace mangrove {

// Negative when `to` comes first. What a Duration cannot hold is the longest that it can.
constexpr Duration elapsed(WallTime from, WallTime to) {
  constexpr auto most = std::chrono::floor<WallTime::duration>(Duration::max());
  return std::clamp<WallTime::duration>(to - from, -most, most);
}

}  // namespace mangrove
