#pragma once
// How long an Event is kept: an hour, as Kubernetes does, and shorter the more of them there are,
// so that pods that come and go by the thousand do not fill the memory with their stories.
//
//   eventLife(500)     // 1 h
//   eventLife(8000)    // 1 h × (2000 / 8000)² = 225 s
//
// Pure. With 25 Events a second the number settles near 7000, instead of 90 000.

#include <algorithm>
#include <cstddef>

#include "apiserver/core/commit.h"
#include "base/units.h"

namespace mangrove::apiserver {

inline constexpr double kManyEvents = 2000;
inline constexpr Duration kShortestEventLife = std::chrono::minutes(1);

inline Duration eventLife(size_t present) {
  const double share = kManyEvents / std::max(kManyEvents, static_cast<double>(present));
  const auto life = static_cast<int64_t>(static_cast<double>(kEventLife.count()) * share * share);
  return std::max(Duration(life), kShortestEventLife);
}

}  // namespace mangrove::apiserver
