#pragma once
// `mangrove bench impact`: what batch work does to a service beside it, placed in several ways. A
// real service under a fixed-rate open load; rows interleaved in random order; runs disturbed by
// strangers thrown away by a rule fixed before; medians with confidence intervals.
//
//   Result<ImpactBench> figures = runImpactBench({.runs = 10});
//
// Real cgroups and processes; needs root. Forks: call it before threads exist.

#include <string>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "stats/experiment.h"

namespace mangrove::agent {

struct ImpactOptions {
  int64_t runs = 10;
  Duration length = std::chrono::milliseconds(2500);
  double rate = 1000;
  std::string service = "auto";
  stats::DiscardRule discard = {};
  uint64_t seed = 1;
};

// How batch work is placed.
enum class Placement {
  kNone,
  kAwake,
  kCareless,
  kPlainGroup,
  kPlainPod,  // as plain Kubernetes runs a BestEffort pod
  kIdle,
  kMangrove,
  kReference,
  kKubelet
};

struct ImpactRun {
  double p50 = 0, p99 = 0, p999 = 0;  // ms
  double served = 0;                  // a second
  double batchCores = 0;
  double strangers = 0;  // cores
  bool kept = false;
};

struct ImpactRow {
  std::string name;
  Placement placement{};
  std::vector<ImpactRun> runs;
  size_t kept = 0;
  stats::Interval p50, p99, p999, batch;
  stats::Interval inflation;    // p99 over the stricter baseline's
  stats::Interval againstIdle;  // p99 over that beside plain cpu.idle
  stats::Interval batchShare;   // of what careless batch work took
};

struct ImpactBench {
  std::string service;
  double rate = 0;
  int64_t cpus = 0;
  bool cgroupV2 = false;
  std::string rule;
  std::string baseline;  // the stricter one
  std::vector<ImpactRow> rows;
};

// From runs to intervals, and which baseline is the stricter. Pure.
void summarise(uint64_t seed, ImpactBench& bench);
Result<ImpactBench> runImpactBench(const ImpactOptions& options);
std::string toTable(const ImpactBench& bench);
std::string toJson(const ImpactBench& bench);

}  // namespace mangrove::agent
