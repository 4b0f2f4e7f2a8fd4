#pragma once
// How much memory services will miss if nothing is done: from how much room is left, how fast it
// shrinks, and whether tasks already stall for it. A pure core; one owner per limit that is
// watched.
//
//   MemoryForecast forecast;
//   MemoryNeed need = forecast.see({now, limit, used, stalled});
//   if (need.wanted.v > 0) …

#include <optional>

#include "base/number/units.h"

namespace mangrove::agent {

struct MemorySight {
  MonoTime at{};
  Bytes limit;
  Bytes used;          // with page cache: who makes room for whom is the question
  double stalled = 0;  // share of the time in which some service waited for memory
};

struct ForecastOptions {
  double marginShare = 0.03;  // of the limit, kept free always
  Bytes leastMargin = kMiB * 8;
  Duration horizon = std::chrono::seconds(3);  // what grows gets room for so long
  double stall = 0.10;                         // services that wait this much need room now
  Bytes stallStep = kMiB * 64;
};

struct MemoryNeed {
  Bytes room;                         // left now
  Bytes keep;                         // what should be left
  Bytes wanted;                       // to be given back; 0: all is well
  double growth = 0;                  // bytes per second, smoothed; never negative
  bool stalling = false;              // it was the stall that asked
  std::optional<Duration> exhausted;  // when the room is gone at this pace
};

class MemoryForecast {
 public:
  explicit MemoryForecast(ForecastOptions options = {}) : options_(options) {}
  MemoryNeed see(const MemorySight& sight);

 private:
  ForecastOptions options_;
  MonoTime lastAt_ = MonoTime::min();
  Bytes lastUsed_;
  double growth_ = 0;
};

}  // namespace mangrove::agent
