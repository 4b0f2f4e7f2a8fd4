#pragma once
// How raw scores become 0..100 by comparison with the largest: Kubernetes' default normalisation.
//   scaledScore(3, 6, false) = 50;  reversed, lower is better: scaledScore(1, 2, true) = 50.

#include <cstdint>

namespace mangrove::placement {

inline constexpr int64_t kMaxScore = 100;

constexpr int64_t scaledScore(int64_t raw, int64_t top, bool reverse) {
  if (top == 0) return reverse ? kMaxScore : raw;
  const int64_t share = raw * kMaxScore / top;
  return reverse ? kMaxScore - share : share;
}

}  // namespace mangrove::placement
