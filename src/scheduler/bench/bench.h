#pragma once
// `mangrove bench scheduler`, core mode: how fast decisions are, without any server.
//
//   Result<std::vector<BenchResult>> results = runCoreBench({.nodes = 5000, .cases =
//   {"SchedulingBasic"}});
//
// One thread; blocks until done.

#include <string>
#include <vector>

#include "base/result.h"
#include "placement/config/config.h"
#include "scheduler/names.h"
#include "stats/experiment.h"

namespace mangrove::scheduler {

struct BenchOptions {
  int64_t nodes = 5000;
  std::vector<std::string> cases;  // empty: all
  int64_t pods = 0;                // measured; 0: as the case says for so many nodes
  bool withMetrics = true;         // every node has a NodeMetric, so that load is judged too
  bool untaint = false;            // remove the taints a server gives to new nodes
  std::string schedulerName = "koord-scheduler";
  int64_t passes = 1;       // over each case on a server; their slices are put together
  int64_t connections = 0;  // of the scheduler over HTTP; 0: as many as the role has
  int64_t leaves = 1000;    // quotas without children, of a case that has quotas
  std::vector<std::string> without = {};  // plugins left out of the profile, core mode
};

// The profile that benchmarks run with, less some plugins; refuses names it does not have.
Result<SchedulerConfig> benchConfig(const std::vector<std::string>& without);

struct BenchResult {
  std::string name, mode;
  size_t nodes = 0, firstPods = 0, pods = 0, scheduled = 0;
  double seconds = 0, perSecond = 0;
  double p50Micros = 0, p99Micros = 0, maxMicros = 0;
  double cpuMicrosPerPod = 0;
  size_t rssMegabytes = 0;
  double rawPerSecond = 0;          // what the server takes without a scheduler; 0: not measured
  double rawCpuMicros = 0;          // of the client that decides nothing, per pod
  stats::Interval shareOfRaw = {};  // from slices taken by turns; zero: not measured
  double idleMicros = 0;            // of a second in which nothing happens; 0: not measured
  stats::Interval moreMicros = {};  // of the processor a pod, beside raw, by pairs; zero: unknown
};

struct BenchCase;
// Pods that are there before, and those that are measured.
size_t firstOf(const BenchCase& bench, const BenchOptions& options);
size_t measuredOf(const BenchCase& bench, const BenchOptions& options);
// Those that are asked for, or all; an unknown name is answered with the nearest.
Result<std::vector<const BenchCase*>> casesOf(const BenchOptions& options);
Result<std::vector<BenchResult>> runCoreBench(const BenchOptions& options);
std::string benchTable(const std::vector<BenchResult>& results);
std::string benchJson(const std::vector<BenchResult>& results);

// The largest resident size of this process in MiB since the last forgetPeak().
size_t peakMegabytes();
void forgetPeak();  // and gives free memory back, so that a case is not charged for the one before

}  // namespace mangrove::scheduler
