#pragma once
// Arguments of LowNodeLoad. Text → this struct; what is wrong says which member and what would be
// right.

#include <string>
#include <vector>

#include "descheduler/load/bounds.h"
#include "descheduler/load/detector.h"
#include "descheduler/load/node_load.h"
#include "descheduler/plugins/selection.h"

namespace mangrove::descheduler {

// Nodes that are judged by the same bounds. The members outside of any pool are one as well, the
// first.
struct LoadPool {
  std::string name;
  MaybeSelector nodeSelector;
  Bounds bounds;
  Weights weights;
  AnomalyCondition anomaly;
};

struct LowNodeLoadArgs {
  bool paused = false;
  bool dryRun = false;
  bool nodeFit = true;
  bool minimalPlans = false;  // ours: the fewest moves, instead of the order of spec and peers
  int64_t budget = 0;         // with minimalPlans: moves of one cycle at most; 0: as many as needed
  // Ours, where moves are proven: a plan takes at least so many percent of what a node has off it,
  // or nothing; less is not worth an eviction.
  double minGain = 3;
  int64_t numberOfNodes = 0;
  Duration metricExpiration = std::chrono::seconds(180);
  Duration detectorTtl = std::chrono::minutes(5);
  PodChoice choice;
  std::vector<LoadPool> pools;
};

// A resource with a low and without a high bound is refused: it would make every node hot that is
// not low. `interval`: of the cycles, so that a detector outlives the looks it waits for.
Result<LowNodeLoadArgs> readLowNodeLoadArgs(const json::Value& args,
                                            Duration interval = Duration::zero());

}  // namespace mangrove::descheduler
