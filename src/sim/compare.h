#pragma once
// Policies side by side: every policy lives through the same traces, one for each seed, and what
// came of it is told with intervals over the seeds.
//
//   Comparison done = *compare({.policies = …, .seeds = {101, 102}, .traceOf = …});
//   toTable(done), toJson(done), toHtml(done)
//
// compare() blocks; the rest is pure.

#include <functional>
#include <string>
#include <vector>

#include "sim/policy.h"
#include "sim/simulation.h"
#include "stats/experiment.h"

namespace mangrove::sim {

struct CompareOptions {
  std::string about;  // of the traces: "shape commerce" or a file
  std::vector<Policy> policies;
  std::vector<uint64_t> seeds;
  std::function<Trace(uint64_t seed)> traceOf;
  SimOptions each;                                  // seed and progress are ours
  std::function<void(double share)> progress = {};  // of all of it
};

struct PolicyRuns {
  std::string policy;
  std::vector<SimResult> runs;  // by seed
};

struct Comparison {
  std::string about;
  int64_t nodes = 0, pods = 0;  // of the first trace
  Seconds length = 0;
  std::vector<uint64_t> seeds;
  std::vector<PolicyRuns> policies;
};

Result<Comparison> compare(const CompareOptions& options);

// One figure of a run.
struct Figure {
  std::string_view key, head;
  int digits;
  double (*of)(const SimResult& run);
};
const std::vector<Figure>& figures();
// The median over the seeds and where it lies in 95 % of repetitions.
stats::Interval overSeeds(const PolicyRuns& runs, const Figure& figure);

std::string toTable(const Comparison& comparison);
std::string toJson(const Comparison& comparison);
std::string toHtml(const Comparison& comparison);

}  // namespace mangrove::sim
