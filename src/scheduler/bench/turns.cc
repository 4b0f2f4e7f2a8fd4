#include "scheduler/bench/turns.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "base/number/rng.h"
#include "stats/paired.h"

namespace mangrove::scheduler {

namespace {

constexpr size_t kMostSlices = 10;
constexpr size_t kLeastPods = 1000;  // of a slice, below which beginning and end are much of it
constexpr double kConfidence = 0.95;

Slice sumOf(const std::vector<Slice>& slices) {
  Slice sum;
  for (const Slice& slice : slices) {
    sum.pods += slice.pods;
    sum.seconds += slice.seconds;
    sum.cpuSeconds += slice.cpuSeconds;
  }
  return sum;
}

std::vector<double> ratesOf(const std::vector<Slice>& slices) {
  std::vector<double> rates;
  for (const Slice& slice : slices) rates.push_back(rateOf({slice}));
  return rates;
}

Result<> take(const TakeSlice& side, size_t pods, std::vector<Slice>& into) {
  if (!side) return {};
  auto slice = side(pods);
  if (!slice) return pass(slice.error());
  into.push_back(*slice);
  return {};
}

void forgetFirst(std::vector<Slice>& slices) {
  if (slices.size() > 1) slices.erase(slices.begin());
}

}  // namespace

std::vector<size_t> slicesOf(size_t pods) {
  const size_t count = std::min(std::clamp<size_t>(pods / kLeastPods, 2, kMostSlices), pods);
  std::vector<size_t> slices;
  for (size_t i = 0; i < count; i++) slices.push_back(pods * (i + 1) / count - pods * i / count);
  return slices;
}

Result<Turns> takeTurns(const std::vector<size_t>& slices, const TakeSlice& raw,
                        const TakeSlice& ours, uint64_t seed) {
  Turns turns;
  Rng rng(seed);
  for (size_t pods : slices) {
    std::array sides = {std::pair(&raw, &turns.raw), std::pair(&ours, &turns.ours)};
    if (rng.below(2) == 0) std::swap(sides[0], sides[1]);
    for (const auto& [side, into] : sides)
      if (auto ok = take(*side, pods, *into); !ok) return pass(ok.error());
  }
  forgetFirst(turns.raw);
  forgetFirst(turns.ours);
  return turns;
}

double rateOf(const std::vector<Slice>& slices) {
  const Slice sum = sumOf(slices);
  return static_cast<double>(sum.pods) / std::max(sum.seconds, 1e-9);
}

double cpuMicrosOf(const std::vector<Slice>& slices) {
  const Slice sum = sumOf(slices);
  return sum.cpuSeconds * 1e6 / static_cast<double>(std::max<size_t>(1, sum.pods));
}

stats::Interval shareOf(const Turns& turns) {
  if (turns.raw.empty()) return {};
  const auto ratios = stats::logRatios(ratesOf(turns.ours), ratesOf(turns.raw));
  return stats::pairedEffect(ratios, kConfidence).ratio;
}

std::string shareText(const stats::Interval& share) {
  if (share.estimate <= 0) return "-";
  if (!std::isfinite(share.high)) return fmt::format("{:.0f} %", 100 * share.estimate);
  return fmt::format("{:.0f} % [{:.0f}-{:.0f}]", 100 * share.estimate, 100 * share.low,
                     100 * share.high);
}

json::Value shareJson(const stats::Interval& share) {
  if (share.estimate <= 0) return nullptr;
  json::Object out{{"median", share.estimate}, {"pairs", share.count}};
  if (!std::isfinite(share.high)) return out;
  out["low"] = share.low;
  out["high"] = share.high;
  return out;
}

}  // namespace mangrove::scheduler
