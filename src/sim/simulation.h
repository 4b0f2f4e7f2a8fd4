#pragma once
// A trace lived through under a policy: the product's scheduler places, its manager sells, its
// agents suppress and evict, services come first, and what happens is added up. The same trace,
// policy and seed give the same result to the last bit, on however many threads.
//
//   auto result = simulate(trace, policy, {.seed = 1});
//   result->sums.utilisation(), result->sums.work()
//
// Blocks; starts threads of its own for the nodes' steps.

#include <functional>
#include <vector>

#include "base/result.h"
#include "sim/policy.h"
#include "sim/sim_node.h"
#include "sim/sums.h"
#include "sim/trace.h"

namespace mangrove::sim {

struct SimOptions {
  uint64_t seed = 1;
  Stepping stepping = Stepping::kAdaptive;
  int64_t threads = 2;
  std::function<void(Seconds now)> progress = {};  // after every simulated hour
  // For tests: after every step all nodes, as they are.
  std::function<void(Seconds now, const std::vector<std::unique_ptr<SimNode>>&)> look = {};
};

// Means over an hour, for plots; cores.
struct HourPoint {
  double utilisation = 0, sold = 0, batchUsed = 0, shortShare = 0;
  bool operator==(const HourPoint&) const = default;
};

struct SimResult {
  Sums sums;
  Seconds length = 0;
  double cores = 0;  // of all nodes
  int64_t tasks = 0;
  double waitMedian = 0, waitP95 = 0;  // seconds from a task's arrival to its first node
  uint64_t ticks = 0;                  // of the agents' suppression
  uint64_t decisions = 0;              // pods that the scheduler placed
  std::vector<HourPoint> hours;
  bool operator==(const SimResult&) const = default;
};

Result<SimResult> simulate(const Trace& trace, const Policy& policy, const SimOptions& options);

}  // namespace mangrove::sim
