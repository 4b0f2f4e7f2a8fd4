#include "manager/controllers/noderesource/steady.h"

#include <algorithm>

#include "base/number/elapsed.h"

namespace mangrove::manager {
namespace {

constexpr int64_t kHoldSeconds = 120;
constexpr Percent kRisePerMinute{10};
constexpr double kDropThreshold = 0.02;
constexpr Duration kStepEvery = std::chrono::seconds(30);

SteadyStep published(int64_t value) {
  return {
      value, {.published = value, .risingSince = {}, .lowestWhileRising = 0, .lastStep = {}}, {}};
}

// How much may be added after `elapsed`, in whole units.
int64_t allowedRise(int64_t capacity, Duration elapsed, const SteadyReclaim& policy) {
  const double perMinute =
      static_cast<double>(policy.risePercentPerMinute.value_or(kRisePerMinute).v) / 100;
  const double minutes = std::chrono::duration<double, std::ratio<60>>(elapsed).count();
  return static_cast<int64_t>(static_cast<double>(capacity) * perMinute * minutes);
}

SteadyStep rise(SteadyState state, int64_t target, int64_t capacity, WallTime now,
                const SteadyReclaim& policy) {
  const Duration hold = std::chrono::seconds(policy.riseHoldSeconds.value_or(kHoldSeconds));
  if (!state.risingSince) {
    state.risingSince = now;
    state.lowestWhileRising = target;
    state.lastStep = now + std::chrono::duration_cast<std::chrono::microseconds>(hold);
  }
  state.lowestWhileRising = std::min(state.lowestWhileRising, target);
  if (now < state.lastStep) return {*state.published, state, elapsed(now, state.lastStep)};
  const int64_t most =
      *state.published + allowedRise(capacity, elapsed(state.lastStep, now), policy);
  const int64_t value = std::clamp(most, *state.published, state.lowestWhileRising);
  if (value > *state.published) {
    state.published = value;
    state.lastStep = now;
  }
  const bool there = value >= target;
  if (there) state.risingSince.reset();
  return {value, state, there ? std::nullopt : std::optional(kStepEvery)};
}

}  // namespace

SteadyStep steadyStep(const SteadyState& before, int64_t target, int64_t capacity, WallTime now,
                      const SteadyReclaim& policy) {
  if (!before.published) return published(target);
  const auto have = static_cast<double>(*before.published);
  const double fallTo = have * (1 - policy.dropThreshold.value_or(kDropThreshold));
  if (static_cast<double>(target) < fallTo || target == 0) return published(target);
  if (target > *before.published) return rise(before, target, capacity, now, policy);
  SteadyState state = before;
  state.risingSince.reset();
  return {*before.published, state, {}};
}

}  // namespace mangrove::manager
