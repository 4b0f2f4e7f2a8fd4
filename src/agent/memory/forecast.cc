#include "agent/memory/forecast.h"

#include <algorithm>
#include <cmath>

namespace mangrove::agent {
namespace {

// Growth is believed quickly and forgotten slowly.
constexpr double kRiseSeconds = 0.2;
constexpr double kFallSeconds = 2;

double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

Bytes bytes(double amount) {
  return {static_cast<int64_t>(amount)};
}

}  // namespace

MemoryNeed MemoryForecast::see(const MemorySight& sight) {
  if (lastAt_ != MonoTime::min() && sight.at > lastAt_) {
    const double elapsed = seconds(sight.at - lastAt_);
    const double pace = static_cast<double>((sight.used - lastUsed_).v) / elapsed;
    const double memory = pace > growth_ ? kRiseSeconds : kFallSeconds;
    growth_ += (std::max(pace, 0.0) - growth_) * (1 - std::exp(-elapsed / memory));
  }
  lastAt_ = sight.at;
  lastUsed_ = sight.used;
  MemoryNeed need;
  need.room = std::max(sight.limit - sight.used, Bytes{0});
  need.growth = growth_;
  const Bytes margin = std::max(options_.leastMargin,
                                bytes(static_cast<double>(sight.limit.v) * options_.marginShare));
  need.keep = margin + bytes(growth_ * seconds(options_.horizon));
  need.keep = std::min(need.keep, sight.limit);
  need.wanted = std::max(need.keep - need.room, Bytes{0});
  if (sight.stalled >= options_.stall && need.wanted < options_.stallStep) {
    need.wanted = options_.stallStep;
    need.stalling = true;
  }
  if (growth_ >= 1)
    need.exhausted = Duration(
        static_cast<int64_t>(std::min(static_cast<double>(need.room.v) / growth_, 1e6) * 1e9));
  return need;
}

}  // namespace mangrove::agent
