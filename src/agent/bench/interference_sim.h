#pragma once
// How often accusations are right, on simulated signals: by experiment, and by correlation alone; and
// how often the whole machinery accuses somebody on days on which nobody hurts anybody. A check of the
// method and not evidence about machines: noise and decoys are those of a model of ours. Pure; any
// thread.
//
//   SimulatedCases cases = simulateCases(400, 1);
//   cases.proof.precision()

#include <array>
#include <cstdint>

#include "agent/bench/interference.h"

namespace mangrove::agent {

inline constexpr std::array<double, 3> kCorrelations = {0.35, 0.15, 0.05};

// Half of them guilty by 10 to 50 %, the others decoys that work exactly when the culprit does, follow
// the service's load, or just work.
struct SimulatedCases {
  int64_t cases = 0;
  Accuracy proof;
  std::array<Accuracy, kCorrelations.size()> correlation;
};
SimulatedCases simulateCases(int64_t cases, uint64_t seed);

// A service that is slow at its own hours for reasons of its own, beside pods that come and go.
struct QuietDays {
  int64_t days = 0;
  int64_t episodes = 0, experiments = 0, accusations = 0;
  double perDay() const {
    return days > 0 ? static_cast<double>(accusations) / static_cast<double>(days) : 0;
  }
};
QuietDays simulateQuietDays(int64_t days, uint64_t seed);

std::string toTable(const SimulatedCases& cases);
std::string toTable(const QuietDays& days);
std::string toJson(const InterferenceBench& bench, const SimulatedCases& cases,
                   const QuietDays& days);

}  // namespace mangrove::agent
