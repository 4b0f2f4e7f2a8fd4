#pragma once
// LoadAwareScheduling written down as plainly as possible: every pod of the node is looked at for
// every question. Test code.

#include "placement/testing/oracle_world.h"

namespace mangrove::placement::oracle {

struct LoadRules {
  bool filterExpired = true;
  bool scheduleWhenExpired = false;
  int64_t expirationSeconds = 180;
  Amounts weights = {{"cpu", 1}, {"memory", 1}};
  int64_t dominantWeight = 0;
  Amounts usage = {{"cpu", 65}, {"memory", 95}};
  Amounts prod, aggregated;  // thresholds; empty: none
  bool prodIncludesSystem = false;
  bool scoreByProd = false;
  Amounts factors = {{"cpu", 85}, {"memory", 70}};
  std::optional<int64_t> secondsAfterScheduled;
  std::string usageType, scoreType;  // avg, p95 …; "": no aggregation
  int64_t usageSeconds = 0, scoreSeconds = 0;

  std::string json() const;  // LoadAwareSchedulingArgs
};

Amounts estimateOf(const LoadRules& rules, const api::Pod& pod);
// "" when the pod may go there.
std::string loadRefusal(const LoadRules& rules, const World& world, const api::Pod& pod,
                        const World::Place& place);
int64_t loadScore(const LoadRules& rules, const World& world, const api::Pod& pod,
                  const World::Place& place);

}  // namespace mangrove::placement::oracle
