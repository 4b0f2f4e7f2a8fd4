#include "demo/day.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/number/rng.h"

namespace mangrove::demo {
namespace {

constexpr double kQuietestHour = 4;
constexpr double kSwing = 0.5;
constexpr double kLeastMicros = 50, kMostMicros = 40'000;

double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(1 - rng.unit()));
  return radius * std::cos(2 * std::numbers::pi * rng.unit());
}

}  // namespace

double hourOf(size_t round, size_t rounds) {
  return 24.0 * (static_cast<double>(round) + 0.5) /
         static_cast<double>(std::max<size_t>(rounds, 1));
}

double rateAt(double hour, double mean) {
  return mean * (1 - kSwing * std::cos(2 * std::numbers::pi * (hour - kQuietestHour) / 24));
}

std::vector<Shot> drawShots(const HourPlan& plan) {
  Rng rng(plan.seed);
  std::vector<Shot> out;
  const double end = std::chrono::duration<double>(plan.length).count();
  for (double at = 0;;) {
    at += -std::log(1 - rng.unit()) / plan.rate;
    if (at >= end) return out;
    const double micros = std::clamp(plan.medianMicros * std::exp(plan.spread * normal(rng)),
                                     kLeastMicros, kMostMicros);
    out.push_back({.at = Duration(static_cast<int64_t>(at * 1e9)),
                   .workMicros = static_cast<uint32_t>(micros * plan.computing),
                   .waitMicros = static_cast<uint32_t>(micros * (1 - plan.computing))});
  }
}

}  // namespace mangrove::demo
