#pragma once
// `mangrove bench interference`: whether the agent accuses the right pod. Real services that can be
// hurt, real work that hurts them and decoys beside it; who is guilty is decided beforehand, by ten
// alternating runs with and without each pod (p99 up by a tenth, the whole interval above nothing).
// Then the agent, at its default settings, has to find out by itself.
//
//   Result<InterferenceBench> figures = runInterferenceBench({.cases = 4});
//
// Real cgroups and processes; needs root. Forks: call it before threads exist.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/bench/neighbours.h"
#include "base/number/units.h"
#include "base/result.h"
#include "stats/experiment.h"

namespace mangrove::agent {

struct InterferenceOptions {
  int64_t cases = 20;  // each with one that may hurt and one decoy
  int64_t first = 0;   // skips so many: a long series can be run in parts
  int64_t truthPairs = 10;
  Duration length = std::chrono::seconds(2);    // of one run
  Duration patience = std::chrono::minutes(7);  // until everybody is tried
  bool act = false;                             // let the agent act on what it proved
  uint64_t seed = 1;
  std::string dir = {};  // for files of the work; "": the system's for temporary ones
  // Only this victim, beside only this work; "": by turns.
  std::string victim = {}, work = {};
};

// One pod of a case.
struct TriedPod {
  Antagonist work{};
  std::string program;
  stats::Interval truth;  // p99 with / without
  bool guilty = false;    // by that
  std::string verdict;    // the agent's: "", guilty, innocent, not known
  std::string sentence;
  double correlation = 0;
  bool accused() const { return verdict == "guilty"; }
};

struct InterferenceCase {
  Sufferer victim{};
  std::vector<TriedPod> pods;
  double alone = 0, beside = 0, during = 0;  // p99, ms: without them, with them, in experiments
  std::optional<double> detected;            // seconds from when they began to the report
  double watched = 0;                        // seconds that the agent had
  std::optional<double> held;                // p99 once the guilty one was held
  double kept = 0;                           // share of its CPU time that it still has then
  double strangers = 0;                      // cores that others used meanwhile
  double agentCores = 0;
};

struct InterferenceBench {
  std::vector<InterferenceCase> cases;
  int64_t cpus = 0;
  bool cgroupV2 = false;
};

// How good accusations are. Pure.
struct Accuracy {
  size_t guilty = 0, innocent = 0;  // by the runs
  size_t rightly = 0, wrongly = 0;  // accused
  double precision() const;         // 1 when nobody is accused
  double recall() const;
};
std::string lineOf(std::string_view name, const Accuracy& accuracy);
Accuracy byExperiment(const InterferenceBench& bench);
Accuracy byCorrelation(const InterferenceBench& bench, double atLeast);
// What the i-th case is; the same for the same seed.
struct CasePlan {
  Sufferer victim{};
  Antagonist culprit{}, decoy{};
};
CasePlan planOf(uint64_t seed, int64_t index);
// The same with what the options name; an error says what there is.
Result<CasePlan> planOf(const InterferenceOptions& options, int64_t index);

// Over all cases, with 95 % intervals; absent: too few cases have it.
struct Costs {
  std::optional<stats::Interval> during;  // p99 in experiments / beside them before
  std::optional<stats::Interval> held;    // p99 once the guilty one is held / alone
  double agentCores = 0, kept = 0;
  double detected = 0;   // the longest
  double falseADay = 0;  // wrong accusations in a day of watching
  double hours = 0;
};
Costs costsOf(const InterferenceBench& bench);

Result<InterferenceBench> runInterferenceBench(const InterferenceOptions& options);
std::string toTable(const InterferenceBench& bench);
std::string toJson(const InterferenceBench& bench);

}  // namespace mangrove::agent
