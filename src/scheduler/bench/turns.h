#pragma once
// A scheduler and a client that decides nothing, by turns on the same server: the speed of a
// machine changes from second to second, so what is compared must lie close together.
//
//   auto turns = takeTurns(slicesOf(5000), raw, ours, seed);
//   rateOf(turns->ours), shareOf(*turns)            // 7 400 pods/s, 0.97 [0.94, 1.01] of raw
//
// A slice of raw and one of ours make a pair, and chance says who is first. The first pair fills
// caches and is not kept. A slice counts from when its pods all wait, and the first is tried, to
// when the last one is bound.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "stats/experiment.h"

namespace mangrove::scheduler {

struct Slice {
  size_t pods = 0;
  double seconds = 0;
  double cpuSeconds = 0;  // of the client; 0: not of interest
};

struct Turns {
  std::vector<Slice> raw, ours;  // pairs, when there is a raw side
};

using TakeSlice = std::function<Result<Slice>(size_t pods)>;

// `raw` may be null. Stops at the first slice that fails.
Result<Turns> takeTurns(const std::vector<size_t>& slices, const TakeSlice& raw,
                        const TakeSlice& ours, uint64_t seed);

// Pure: how so many pods are cut.
std::vector<size_t> slicesOf(size_t pods);
double rateOf(const std::vector<Slice>& slices);       // pods per second
double cpuMicrosOf(const std::vector<Slice>& slices);  // per pod
// Rate of ours / rate of raw with its 95 % interval, which is infinite when the pairs are too few;
// zero without a raw side.
stats::Interval shareOf(const Turns& turns);
std::string shareText(const stats::Interval& share);  // "97 % [94-101]", "97 %" or "-"
// median, low, high, pairs; null: not measured.
json::Value shareJson(const stats::Interval& share);

}  // namespace mangrove::scheduler
