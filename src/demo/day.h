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

#include "agent/bench/service.h"
#include "base/units.h"

namespace mangrove::demo {

// The hour of the day (0 to 24) that round i of n stands for.
double hourOf(size_t round, size_t rounds);
// Half the mean at four in the morning, one and a half times the mean in the afternoon.
double rateAt(double hour, double mean);

struct HourPlan {
  double rate = 400;  // requests a second; they come at random (Poisson), as people do
  Duration length = std::chrono::seconds(3);
  uint64_t seed = 1;
  // Service times are lognormal: most are short, one of a hundred takes six times as long.
  double medianMicros = 600;
  double spread = 0.75;
};
std::vector<agent::Shot> drawShots(const HourPlan& plan);

}  // namespace mangrove::demo
