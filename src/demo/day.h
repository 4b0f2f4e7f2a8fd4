#pragma once
// The load of a compressed day: how many requests an hour brings, when each comes and how much work
// it asks for. The same seed gives the same hour, so that every condition answers the very same
// requests. Pure.
//
//   double rate = rateAt(hourOf(round, rounds), mean);
//   auto shots = drawShots({.rate = rate, .length = 3s, .seed = round});

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/number/units.h"

namespace mangrove::demo {

// The hour of the day (0 to 24) that round i of n stands for.
double hourOf(size_t round, size_t rounds);
// Half the mean at four in the morning, one and a half times the mean in the afternoon.
double rateAt(double hour, double mean);

struct HourPlan {
  double rate = 400;  // requests a second; they come at random (Poisson), as people do
  Duration length = std::chrono::seconds(3);
  uint64_t seed = 1;
  // Service times are lognormal: median 1 ms, 5 of 100 above 5 ms, one of 100 above 10 ms, as Dean
  // and Barroso give them for one server of a large system (The Tail at Scale, table 1).
  double medianMicros = 1000;
  double spread = 0.99;
  double computing = 0.5;  // share of it; the rest waits for a backend
};

// One request.
struct Shot {
  Duration at{};          // after the start
  uint32_t workMicros{};  // computing it asks for
  uint32_t waitMicros{};  // and how long the service is to wait for somebody else
};
std::vector<Shot> drawShots(const HourPlan& plan);

}  // namespace mangrove::demo
