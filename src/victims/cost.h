#pragma once
// What an eviction throws away: the work since the last checkpoint, and the time until the work
// goes on elsewhere.
//
//   lost = work · (now − last)       work = GPUs · 50 + cores
//   cost = lost + work · restart
//   worked: 8 GPUs, saved 60 s ago, restart 180 s: 400·60 + 400·180 = 24 000 + 72 000 = 96 000
//
// Claims are bounded: nobody has lost more than the CPU measured since he started, and a restart
// counts an hour at most. Who is silent counts as the median of those of his kind who speak, so
// that silence does not pay. Pure functions, any thread.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "victims/candidate.h"

namespace mangrove::victims {

inline constexpr double kGpuWeight = 50;  // cores that a GPU counts for
inline constexpr Duration kUsualRestart = std::chrono::seconds(180);
inline constexpr Duration kLongestRestart = std::chrono::hours(1);

struct Cost {
  double lost = 0;     // core seconds
  double restart = 0;  // core seconds
  double total() const { return lost + restart; }
  Cost operator+(const Cost& o) const { return {lost + o.lost, restart + o.restart}; }
  bool operator==(const Cost&) const = default;
};

// Seconds per unit of work that one of this kind loses and needs for its restart, where half lose
// less. Infinite lostSeconds: most of the kind never save, so one loses all since its start.
struct Usual {
  double lostSeconds = 0;
  double restartSeconds = 0;
};
using UsualByKind = std::map<std::string, Usual, std::less<>>;

double workOf(const Progress& progress, double gpuWeight = kGpuWeight);
// The medians over those who speak, by kind, and of all of them under "". Figures of whoever sees
// more than these candidates (`known`) win.
UsualByKind usualCosts(std::span<const Candidate> candidates, WallTime now,
                       const UsualByKind& known = {}, double gpuWeight = kGpuWeight);
// For each candidate. A silent one whose kind nobody speaks for takes the median of all who speak;
// where nobody speaks, all since its start.
std::vector<Cost> costs(std::span<const Candidate> candidates, WallTime now,
                        const UsualByKind& known = {}, double gpuWeight = kGpuWeight);

}  // namespace mangrove::victims
