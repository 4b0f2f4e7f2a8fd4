#pragma once
// From blocks to what may be said: intervals per condition, the cost of batch work against the
// stricter baseline, and the sentence. Pure.
//
//   Findings found = conclude(blocks, {.cpus = 2});
//   found.sentence        // "batch got 78 % of the machine, the service paid 2 % ± 3 % p99"

#include <string>
#include <string_view>
#include <vector>

#include "demo/condition.h"
#include "stats/experiment.h"
#include "stats/paired.h"

namespace mangrove::demo {

// Fixed before the first block and printed with the result.
struct DiscardRule {
  stats::DiscardRule strangers = {};
  double mostSteal = 0.05;  // cores the hypervisor may take
  std::string text() const;
};
bool keeps(const DiscardRule& rule, const Block& block);

struct Situation {
  int64_t cpus = 1;
  int64_t evictions = 0;
  double confidence = 0.95;
  uint64_t seed = 1;
};

struct Row {
  Condition condition{};
  size_t kept = 0, blocks = 0;
  stats::Interval p50, p99, p999;  // ms, over all requests; blocks are what is drawn anew
  stats::Interval batchCores;
  // Of what careless batch got, pair by pair: CPU time, and the work done in it. CPUs of a virtual
  // machine are now faster, now slower, so the second is the less certain one.
  stats::Interval cpuShare, workShare;
  stats::Interval utilisation;  // share of the machine
  stats::Effect cost;           // p99 against the stricter baseline, pair by pair
};

struct Findings {
  Situation situation;
  std::vector<Row> rows;    // in the order of kConditions
  Condition baseline{};     // the stricter of alone and kept awake
  double batchPercent = 0;  // of the machine, under Mangrove
  std::string sentence;
  std::string careless;  // the same about batch work placed carelessly
  std::string plain;     // and about the BestEffort pod of plain Kubernetes
  stats::Effect gain;    // p99 under Mangrove against that pod, hour by hour
  std::string gained;    // what may be said of it, also where there is nothing
  const Row& row(Condition condition) const { return rows[static_cast<size_t>(condition)]; }
};

// Of the two ways to be alone the one that is faster, hour by hour.
Condition stricterBaseline(const std::vector<Block>& blocks);
// p99 against the baseline, hour by hour. A comparison gets a fifth of the error that `confidence`
// allows: the baseline is the better of two, chosen by the data, which doubles it, and who runs the
// demo again should read the same sentence.
stats::Effect costAgainst(Condition baseline, Condition condition, const std::vector<Block>& blocks,
                          double confidence);

Findings conclude(const std::vector<Block>& blocks, const Situation& situation);
// "paid 3 % ± 2 % p99", "no significant difference in …" (only where a fifth more would have been
// seen), or that it cannot be told.
std::string costSentence(const stats::Effect& cost);

// What Mangrove gained over a BestEffort pod. `batch`: CPU time of batch work, of what that pod got.
std::string gainSentence(const stats::Effect& gain, const stats::Interval& batch);
// What the two ways without Mangrove are, for those who read the figures.
inline constexpr std::string_view kWays =
    "carelessly: batch processes in the service's own group, the worst case; as a BestEffort pod: "
    "as "
    "plain Kubernetes runs it, a group of its own with the least weight and no limit";

std::string toTable(const Findings& findings, const DiscardRule& rule);
std::string toJson(const Findings& findings, const std::vector<Block>& blocks,
                   const DiscardRule& rule);
std::string toHtml(const Findings& findings, const std::vector<Block>& blocks,
                   const DiscardRule& rule, const std::string& about);

}  // namespace mangrove::demo
