#pragma once
// How long an Event is kept: an hour, as Kubernetes does, and shorter the more of them there are,
// so that pods that come and go by the thousand do not fill the memory with their stories.
//
//   eventLife(500)      // 1 h
//   eventLife(4000)     // 1 h × (1000 / 4000)² = 225 s
//   eventSurplus(6100)  // 100: so many go before their time, those with the least of it left first
//
// Pure. With 25 Events a second the number settles near 5000, instead of 90 000. A life is given at
// birth, so a sudden crowd overshoots: therefore the surplus.

#include <algorithm>
#include <cstddef>

#include "apiserver/core/commit.h"
#include "base/number/units.h"

namespace mangrove::apiserver {

inline constexpr double kManyEvents = 1000;
inline constexpr size_t kMostEvents = 6000;
inline constexpr Duration kShortestEventLife = std::chrono::minutes(1);

inline Duration eventLife(size_t present) {
  const double share = kManyEvents / std::max(kManyEvents, static_cast<double>(present));
  const auto life = static_cast<int64_t>(static_cast<double>(kEventLife.count()) * share * share);
  return std::max(Duration(life), kShortestEventLife);
}

inline size_t eventSurplus(size_t present) {
  return present > kMostEvents ? present - kMostEvents : 0;
}

}  // namespace mangrove::apiserver
