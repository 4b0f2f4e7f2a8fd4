#pragma once
// `mangrove bench react`: how fast the sentinel notices that a service waits and cuts the batch
// work beside it. A latency probe runs in a service's cgroup; again and again batch work starts to
// burn every CPU; timed are the detection, the write of the control file, and the probe's recovery.
// The same code looking once a second is the baseline.
//
//   Result<ReactBench> figures = runReactBench({.steps = 200});
//
// Real cgroups and processes; needs root. Forks: call it before threads exist.

#include <string>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::agent {

struct ReactOptions {
  int64_t steps = 200;
  int64_t pollSteps = 20;        // of the baseline, which takes seconds for each
  int64_t floorSteps = 20;       // with batch work in the kernel's idle class
  int64_t throttledSteps = 100;  // beside a service that its own quota holds back, and an idle one
  Duration interval = std::chrono::milliseconds(25);
  uint64_t seed = 1;
};

struct Spread {  // milliseconds
  double p50 = 0, p99 = 0, max = 0;
};

struct ReactRow {
  std::string name;
  std::string mode;  // of the sentinel: trigger or poll
  int64_t steps = 0;
  int64_t detected = 0;   // steps in which it was noticed at all
  int64_t recovered = 0;  // … and the probe came back
  int64_t needless = 0;   // cuts while no batch work ran
  Spread detect, write, recovery;
  double quietP99 = 0;  // of the probe, ms
  double burnP99 = 0;   // from the step to the cut (or to its end)
  double cutP99 = 0;    // after the cut
};

struct ReactBench {
  std::vector<ReactRow> rows;
  double speedup = 0;  // detect and write, p99: baseline over ours
  bool cgroupV2 = false;
  int64_t cpus = 0;
};

Result<ReactBench> runReactBench(const ReactOptions& options);
std::string toTable(const ReactBench& bench);
std::string toJson(const ReactBench& bench);

}  // namespace mangrove::agent
