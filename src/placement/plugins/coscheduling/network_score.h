#pragma once
// One pod that names a kind of job (annotation network-topology-selector) is drawn to where pods of
// that kind are in the network: on the node itself, then beside it under the same switch, and so on.
//
// How many of the kind are on which node is counted as pods come and go. Owner thread only.

#include <string>
#include <vector>

#include "placement/framework/plugin.h"
#include "placement/plugins/coscheduling/network_planner.h"

namespace mangrove::placement {

class NetworkScore final : public ClusterPart {
 public:
  NetworkScore(const Cluster& cluster, NetworkPlanner& planner, std::string kind);

  Ready prepare() override { return {.scores = planner_.tree() != nullptr}; }
  // The nearest gets 100, the last one and nodes outside of the topology nothing.
  bool addScores(Totals totals, int32_t weight) override;

  void podAdded(const PodInfo& pod, Row row, bool) override { count(pod, row, 1); }
  void podRemoved(const PodInfo& pod, Row row, bool) override { count(pod, row, -1); }

 private:
  void count(const PodInfo& pod, Row row, int64_t by);

  NetworkPlanner& planner_;
  std::string kind_;
  std::vector<int64_t> existing_;  // by row
};

}  // namespace mangrove::placement
