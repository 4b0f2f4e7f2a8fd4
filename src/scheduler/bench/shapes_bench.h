#pragma once
// `mangrove bench shapes`: how many jobs of eight cards get a box of their own while jobs of all
// sizes come and go, by the reference's score and with keepShapes. Time is virtual: what counts is
// where jobs go, not how fast that is decided.
//
//   auto result = runShapesBench({.seeds = 20});
//   result->gain                        // of the median pair: 1.3 is 30 % more
//
// The mix is that of the 7 064 tasks with GPUs in a public trace (Alibaba, cluster-trace-gpu-v2023,
// openb_pod_list_default.csv; "Beware of Fragmentation", USENIX ATC 2023), tallied row by row: 3 078
// share a card, 3 911 have one, 16 two, 15 four and 44 eight. Arrivals are random and lives
// exponential, which the trace does not say; both sides of a pair see the same ones. One thread;
// blocks until done.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "stats/experiment.h"

namespace mangrove::scheduler {

struct ShapesOptions {
  int64_t nodes = 100;       // boxes of eight cards
  int64_t arrivals = 30000;  // jobs in a run; the first fifth is not counted
  int64_t seeds = 20;        // 1, 2, …
  int64_t loadPercent = 90;  // of all cards, if every job ran at once
};

// One run.
struct ShapesSide {
  int64_t boxes = 0;         // jobs of eight cards that got their place
  int64_t others = 0;        // jobs of other sizes that did
  double othersP95Wait = 0;  // seconds
  double used = 0;           // share of all cards in the mean
};
struct ShapesPair {
  uint64_t seed = 0;
  int64_t boxesCame = 0;
  ShapesSide reference, keeping;
};
struct ShapesResult {
  std::vector<ShapesPair> pairs;
  stats::Interval gain;                     // boxes + 1, keeping / reference
  double p95Reference = 0, p95Keeping = 0;  // medians over the seeds
};
Result<ShapesResult> runShapesBench(const ShapesOptions& options);
std::string shapesTable(const ShapesResult& result);
std::string shapesJson(const ShapesResult& result);

}  // namespace mangrove::scheduler
