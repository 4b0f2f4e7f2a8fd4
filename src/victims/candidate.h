#pragma once
// Who could be asked to leave, and what he would lose by it, as every caller states it. Work is
// counted in one unit: a core is 1, a GPU is 50; a core for a second is a "core second", and losses,
// restarts and costs are core seconds.
//
//   Candidate c{.name = "ns/exec-7", .kind = "spark-executor", .rank = 2,
//               .priority = 5500, .frees = {4'000}};
//   c.progress = {.cores = 4, .started = t0, .measuredCpuSeconds = 5'400};
//   c.progress.saved = lastCheckpoint;
//
// Values; const access from any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/number/units.h"

namespace mangrove::victims {

// Amounts in units of the caller's choice, in the same order for the need and all candidates:
// bytes; milli-cores; milli-cores and bytes; GPUs.
using Amounts = std::vector<double>;

// What is known about the work that would be thrown away.
struct Progress {
  // kSilent: says nothing, counts as the median of its kind. kNothing: says that it cannot save
  // ("mode": "none"), so all since its start is lost. kSaves: what came after `saved` is lost.
  enum class Says : uint8_t { kSilent, kNothing, kSaves } says = Says::kSilent;
  double cores = 0;
  double gpus = 0;
  WallTime started = {};
  std::optional<WallTime> saved = {};  // kSaves: the last checkpoint; nullopt: none since the start
  std::optional<Duration> restart = {};  // restartSeconds; nullopt: 180 s
  // CPU time used since `started`. A loss never counts more than this (plus the GPUs held all that
  // time), whatever is claimed; nullopt: not measured, no such bound.
  std::optional<double> measuredCpuSeconds = {};
};

struct Candidate {
  std::string name = {};  // in sentences: "namespace/name"
  std::string gang = {};  // members leave together or not at all; "": alone
  // Beyond what its gang needs: the gang goes on without it and without all others that are so.
  bool surplus = false;
  std::string kind = {};  // whose median stands in for silence: "spark-executor", "Job", …
  int rank = 0;           // class: lower goes first (free 1, batch 2, mid 3, prod 4)
  int32_t priority = 0;   // within the class: lower goes first
  Amounts frees = {};     // what its leaving gives to the need; all 0: it only pays for its gang
  Progress progress = {};
  // Its job falls with it (a driver, a job manager): after all others of its priority.
  bool carries = false;
  int evictedToday = 0;  // evictions of its job within the last 24 h
  bool spared = false;   // must stay (and its gang with it)
};

}  // namespace mangrove::victims
