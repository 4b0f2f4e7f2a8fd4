#pragma once
// What evictors ask of the node's past: averages over a window of any length. Windows longer than the
// seconds are kept come from the coarser series, as soon as that has seen more of them.
//
//   double cores = cpuAverage(history, now, 2h);
//
// Owner of the history.

#include <optional>

#include "agent/qos/evict/task.h"
#include "agent/series/history.h"

namespace mangrove::agent {

// Of the node; 0 while nothing was measured.
double cpuAverage(const History& history, MonoTime at, Duration window);

struct BeAverage {
  int64_t count = 0;  // of the seconds' samples, or as many as a coarser one stands for
  BeSample mean;
};
// Of best-effort work; nullopt: nothing was measured.
std::optional<BeAverage> beAverage(const History& history, MonoTime at, Duration window);

}  // namespace mangrove::agent
