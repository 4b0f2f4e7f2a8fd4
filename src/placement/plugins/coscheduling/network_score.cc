#include "placement/plugins/coscheduling/network_score.h"

#include <algorithm>

#include "placement/framework/scale.h"

namespace mangrove::placement {

NetworkScore::NetworkScore(const Cluster& cluster, NetworkPlanner& planner, std::string kind)
    : planner_(planner), kind_(std::move(kind)) {
  for (Row row : cluster.table.liveRows())
    for (const PodPtr& pod : cluster.table.info(row).pods) count(*pod, row, 1);
}

void NetworkScore::count(const PodInfo& pod, Row row, int64_t by) {
  if (api::networkTopologySelectorOf(pod.pod->meta.annotations) != kind_) return;
  if (row >= existing_.size()) existing_.resize(row + 1);
  existing_[row] += by;
}

bool NetworkScore::addScores(Totals totals, int32_t weight) {
  const NetworkTree* tree = planner_.tree();
  if (!tree) return false;
  std::vector<NetworkOffer> offers(totals.size());
  for (Row row = 0; row < totals.size(); row++) {
    offers[row].slots = totals[row] != kNotFeasible;
    offers[row].existing = row < existing_.size() ? existing_[row] : 0;
  }
  const std::vector<Row> order = nearestFirst(*tree, offers);
  const auto last = static_cast<int64_t>(order.size()) - 1;
  for (int64_t place = 0; place <= last; place++)
    totals[order[static_cast<size_t>(place)]] +=
        weight * static_cast<int32_t>(scaledScore(place, last, true));
  return true;
}

}  // namespace mangrove::placement
