#include "placement/plugins/coscheduling/network_planner.h"

#include "base/os/log.h"

namespace mangrove::placement {

namespace {

const Logger networkLog("network-topology");

}  // namespace

void NetworkPlanner::rebuild() {
  const bool isOther = networkSeen_ != cluster_.networkGeneration;
  networkSeen_ = cluster_.networkGeneration;
  layoutSeen_ = cluster_.table.layout();
  tree_.reset();
  if (!cluster_.network) return good_.reset();
  std::vector<std::pair<Row, const api::Node*>> nodes;
  for (Row row : cluster_.table.liveRows()) nodes.emplace_back(row, &cluster_.table.node(row));
  tree_ = networkTreeOf(cluster_.network->spec, nodes);
  if (tree_) {
    good_ = cluster_.network->spec;
    return;
  }
  if (isOther)
    networkLog.warn("ClusterNetworkTopology {}: its layers do not lead from {} up to {}; {}",
                    cluster_.network->meta.name.view(), api::kNodeTopologyLayer,
                    api::kClusterTopologyLayer,
                    good_ ? "the one before holds" : "there is no topology until they do");
  if (good_) tree_ = networkTreeOf(*good_, nodes);
}

const NetworkTree* NetworkPlanner::tree() {
  const bool isOld =
      networkSeen_ != cluster_.networkGeneration || layoutSeen_ != cluster_.table.layout();
  if (isOld) rebuild();
  return tree_ ? &*tree_ : nullptr;
}

std::optional<api::ClusterNetworkTopologyStatus> NetworkPlanner::news() {
  const NetworkTree* now = tree();
  const bool isTold = toldNetwork_ == networkSeen_ && toldLayout_ == layoutSeen_;
  toldNetwork_ = networkSeen_;
  toldLayout_ = layoutSeen_;
  if (!now || isTold) return std::nullopt;
  api::ClusterNetworkTopologyStatus out{detailsOf(*now)};
  if (out == cluster_.network->status) return std::nullopt;
  return out;
}

std::vector<NetworkOffer> NetworkPlanner::offers(std::string_view kind,
                                                 const std::vector<int64_t>& slots,
                                                 const std::vector<int64_t>& costs) const {
  std::vector<NetworkOffer> out(slots.size());
  for (Row row = 0; row < slots.size(); row++) {
    out[row].slots = slots[row];
    out[row].cost = row < costs.size() ? costs[row] : 0;
    if (kind.empty() || !cluster_.table.live(row)) continue;
    for (const PodPtr& pod : cluster_.table.info(row).pods)
      out[row].existing += api::networkTopologySelectorOf(pod->pod->meta.annotations) == kind;
  }
  return out;
}

Result<std::vector<Row>> NetworkPlanner::deal(const api::NetworkTopologySpec& spec,
                                              std::string_view kind,
                                              const std::vector<int64_t>& slots,
                                              const std::vector<int64_t>& costs, size_t members) {
  const NetworkTree* network = tree();
  if (!network) return fail(mangrove::Code::kUnavailable, "no cluster network topology");
  const auto wish = wishOf(spec, *network);
  if (!wish) return pass(wish.error());
  const auto shares =
      dealOver(*network, offers(kind, slots, costs), *wish, static_cast<int64_t>(members));
  if (!shares) return pass(shares.error());
  std::vector<Row> out;
  for (const auto& [row, count] : *shares) out.insert(out.end(), static_cast<size_t>(count), row);
  return out;
}

}  // namespace mangrove::placement
