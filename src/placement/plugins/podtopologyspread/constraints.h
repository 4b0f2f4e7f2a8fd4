#pragma once
// Spread constraints compiled for one class of pods, and the formulas of their scores.
//
// Pure but for the default selector, which looks at services and workloads.

#include <optional>
#include <vector>

#include "placement/cluster/cluster.h"
#include "placement/plugins/nodeaffinity/node_affinity.h"

namespace mangrove::placement {

struct Spread {
  int32_t maxSkew = 1;
  Interned key;
  api::Selector selector;
  int32_t minDomains = 1;
  bool honorAffinity = true;
  bool honorTaints = false;
  bool isHostname = false;
  bool matchesSelf = false;
};

struct SpreadDefaults {
  bool system = true;  // hostname 3 and zone 5, both ScheduleAnyway
  std::vector<api::SpreadConstraint> list;
};

struct SpreadPlan {
  std::vector<Spread> hard, soft;
  bool needsAllKeys = true;  // nodes that lack one are left out of the score
  bool usesDefaults = false;
};

// The selector of everything that owns or serves the pod; nullopt when nothing does.
std::optional<api::Selector> defaultSelector(const PodClass& cls, const Cluster& cluster);
SpreadPlan compileSpread(const PodClass& cls, const SpreadDefaults& defaults,
                         const Cluster& cluster);

// cnt·ln(size+2) + (maxSkew−1)
double spreadScore(int64_t count, int32_t maxSkew, size_t size);
// 100·(max+min−raw)/max; all 100 when max is 0.
int64_t spreadShare(int64_t raw, int64_t least, int64_t most);

}  // namespace mangrove::placement
