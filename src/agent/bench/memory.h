#pragma once
// `mangrove bench memory`: a batch pod holds most of a memory cgroup, then a service beside it
// grows. Shows how the memory comes back, rung by rung, and that the service neither runs out nor
// stalls; once with page cache, once with anonymous memory, and once with nobody giving back.
//
//   Result<MemoryBench> figures = runMemoryBench({});
//
// Real cgroups and processes; needs root. Forks: call it before threads exist.

#include <string>
#include <vector>

#include "agent/memory/give_back.h"
#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::agent {

struct MemoryBenchOptions {
  int64_t limitMiB = 512;       // of the pods' cgroup
  int64_t batchPercent = 60;    // held by the batch pod
  int64_t servicePercent = 70;  // to which the service grows
  int64_t growMiBPerSecond = 64;
  std::string scratch = "/var/tmp";  // where page cache comes from: a folder, or a device
};

struct MemoryRow {
  std::string name;
  bool giveBack = true;
  bool reached = false;  // the service has what it wanted
  bool serviceKilled = false;
  bool batchEvicted = false;
  bool batchKilled = false;  // by the kernel: out of memory
  double longestStep = 0;    // ms for one of the service's 4 MiB steps
  double stalledMs = 0;      // of the service, by the kernel's memory pressure
  double seconds = 0;        // until it had everything
  std::vector<RungReport> rungs;
};

struct MemoryBench {
  std::vector<MemoryRow> rows;
  bool cgroupV2 = false;
  int64_t limitMiB = 0;
};

Result<MemoryBench> runMemoryBench(const MemoryBenchOptions& options);
std::string toTable(const MemoryBench& bench);
std::string toJson(const MemoryBench& bench);

}  // namespace mangrove::agent
