#pragma once
// NodeNUMAResource written down as plainly as possible: machine, books and policies are read anew
// from the objects for every question. Test code.

#include "placement/testing/oracle_cpus.h"
#include "placement/testing/oracle_world.h"

namespace mangrove::placement::oracle {

struct NumaRules {
  bool scoreMost = false;      // scoringStrategy MostAllocated
  bool zonesMost = false;      // numaScoringStrategy MostAllocated
  bool spreadDefault = false;  // defaultCPUBindPolicy SpreadByPCPUs

  std::string json() const;  // NodeNUMAResourceArgs
};

// What the pod would get on a node.
struct NumaGrant {
  std::set<int> cpus;
  std::map<int, Amounts> zones;
  bool operator==(const NumaGrant&) const = default;
};

struct NumaAnswerOf {
  std::string refusal;  // "": fits
  NumaGrant grant;
  int64_t score = 0;
};
NumaAnswerOf askNuma(const NumaRules& rules, const api::Pod& pod, const World::Place& place);
// False: the plugin has nothing to do with this pod.
bool numaLooksAt(const api::Pod& pod);

}  // namespace mangrove::placement::oracle
