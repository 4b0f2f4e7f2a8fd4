#pragma once
// Days as they are in large clusters, by a few numbers each, and the traces that a seed makes of
// them: waves of day and week, bursts of one and of all, deploys, long tails of batch work, nodes
// that fail. Numbers and seeds are fixed here before any policy is tuned: tuning may look at
// kTuningSeeds, what is claimed is measured on kHeldOutSeeds.
//
//   const Shape* shape = findShape("commerce");
//   Trace trace = generate(*shape, {.nodes = 20, .days = 2, .seed = 101});
//
// The numbers follow, from memory and not checked against them, what has been published about
// Alibaba's colocated clusters (commerce: services with a strong day, short batch tasks), Google's
// Borg cells (cells: flat use, long tails) and Azure's machines (tenants: low use, office weeks).
// Pure functions, any thread.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/trace.h"

namespace mangrove::sim {

struct Shape {
  std::string_view name, about;
  int64_t nodeCores, nodeGi;
  double requested;     // of the machines, by services
  double used;          // of what services ask for, in the mean
  double daily;         // height of the daily wave, share of the mean
  double weekend;       // what is left on Saturdays and Sundays
  double together;      // share of services whose peaks come at the same hour
  double ownBursts;     // a day and service
  double commonBursts;  // a day
  double burstHeight;   // in the mean, share of the mean use
  double noise;
  double deploys;  // a week and service
  double giPerCore;
  double taskCores, taskGi;  // in the mean
  double taskMinutes;        // median
  double taskSpread;         // of its logarithm
  double batchLoad;          // work that comes, of what services leave in the mean
  double outages;            // a node and 30 days
};

std::span<const Shape> shapes();
const Shape* findShape(std::string_view name);

inline constexpr std::array<uint64_t, 5> kTuningSeeds = {1, 2, 3, 4, 5};
inline constexpr std::array<uint64_t, 10> kHeldOutSeeds = {101, 102, 103, 104, 105,
                                                           106, 107, 108, 109, 110};

struct GenerateOptions {
  int64_t nodes = 20;
  int64_t days = 2;
  int64_t pods = 0;  // replicas and tasks; 0: as the shape has it. The work stays the same.
  uint64_t seed = 1;
};
Trace generate(const Shape& shape, const GenerateOptions& options);

}  // namespace mangrove::sim
