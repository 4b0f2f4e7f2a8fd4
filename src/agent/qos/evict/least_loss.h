#pragma once
// Who goes by the project's one order of victims (victims/order.h): class and priority first, then
// whose leaving throws the least work away; strict gangs as one. The reference's order is that of
// task.h and watermarks.h; gate LeastLossEvict switches to this one.
//
//   for (const Victim& victim : leastLossVictims(tasks, {.now = look.wall, .cpuSeconds = …})) …
//
// Pure functions, any thread.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/qos/evict/task.h"
#include "agent/qos/evict/watermarks.h"
#include "stakes/tally.h"
#include "victims/candidate.h"

namespace mangrove::agent {

inline constexpr std::string_view kLeastLoss = "LeastLossEvict";  // gate

// What is known of losses beside what pods say.
struct LossView {
  WallTime now{};
  // CPU time that a pod used since it started; nullopt: not measured.
  std::function<std::optional<double>(const api::Pod&)> cpuSeconds = {};
  const stakes::EvictionTally* tally = nullptr;  // null: nobody was evicted before
};

// The pod as a candidate of the order; the caller says what it frees. `usedCores` stands in where it
// asked for nothing.
victims::Candidate victimCandidate(const api::Pod& pod, std::optional<double> usedCores,
                                   const LossView& view);

// All tasks in their order; what a victim of one releases counts for the others. Candidates are
// those of each task's own order, so that who may be evicted by what stays as it is.
std::vector<Victim> leastLossVictims(std::span<const EvictTask> tasks, const LossView& view);

struct MarkVictim {
  const WatermarkPod* pod = nullptr;
  std::string loss;  // the sentence
};
// Where shares are not known the first in the order goes and the next look decides.
std::vector<MarkVictim> leastLossVictims(const Watermark& mark, double value,
                                         std::span<const WatermarkPod> pods, const LossView& view);

}  // namespace mangrove::agent
