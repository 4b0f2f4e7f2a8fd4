#pragma once
// Anti-oscillation, an option beside the reference's rule (colocation-config "steadyReclaim"): a
// fall that matters is published at once, a rise only after it has lasted, and then in steps. So a
// service that stops and starts does not make the sold amount swing.
//
//   SteadyStep step = steadyStep(state, target, capacity, now, policy);
//   publish(step.value);  state = step.state;
//
//   worked: published 20 000, target 30 000 of 100 000, hold 120 s, 10 %/min: 20 000 for two
//   minutes, then up by at most 10 000 a minute → 30 000 after three
//
// Pure; any thread.

#include <cstdint>
#include <optional>

#include "base/number/units.h"
#include "manager/config/strategies.h"

namespace mangrove::manager {

struct SteadyState {
  std::optional<int64_t> published;
  std::optional<WallTime> risingSince;  // the target has been above `published` since then
  int64_t lowestWhileRising = 0;        // and never below this
  WallTime lastStep{};                  // when `published` was raised last, or the hold ended
};

struct SteadyStep {
  int64_t value = 0;
  SteadyState state;
  std::optional<Duration> lookAgain;  // when a held rise may go on
};
SteadyStep steadyStep(const SteadyState& before, int64_t target, int64_t capacity, WallTime now,
                      const SteadyReclaim& policy);

}  // namespace mangrove::manager
