#pragma once
// How long one pass of the descheduler takes on a cluster of this size, and what it keeps in memory.
// Blocking.

#include <string>
#include <vector>

#include "base/result.h"
#include "descheduler/bench/still_cluster.h"

namespace mangrove::descheduler {

struct PassBenchOptions {
  StillClusterOptions cluster;
  int64_t passes = 5;
  bool proven = true;
  bool minimal = false;
};

struct PassBenchResult {
  double fillSeconds = 0;
  std::vector<double> passSeconds, passCpuSeconds;
  size_t moves = 0;
  size_t needed = 0;  // at least, where minimal plans are made
  int64_t rssBytes = 0;
};

Result<PassBenchResult> runPassBench(const PassBenchOptions& options);

}  // namespace mangrove::descheduler
