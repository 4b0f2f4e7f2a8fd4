#include "placement/plugins/coscheduling/network_planner.h"

namespace mangrove::placement {

const NetworkTree* NetworkPlanner::tree() {
  const bool isOld =
      networkSeen_ != cluster_.networkGeneration || layoutSeen_ != cluster_.table.layout();
  if (isOld) {
    networkSeen_ = cluster_.networkGeneration;
    layoutSeen_ = cluster_.table.layout();
    std::vector<std::pair<Row, const api::Node*>> nodes;
    for (Row row : cluster_.table.liveRows()) nodes.emplace_back(row, &cluster_.table.node(row));
    tree_ = cluster_.network ? networkTreeOf(cluster_.network->spec, nodes) : std::nullopt;
  }
  return tree_ ? &*tree_ : nullptr;
}

std::vector<NetworkOffer> NetworkPlanner::offers(std::string_view kind,
                                                 const std::vector<int64_t>& slots) const {
  std::vector<NetworkOffer> out(slots.size());
  for (Row row = 0; row < slots.size(); row++) {
    out[row].slots = slots[row];
    if (kind.empty() || !cluster_.table.live(row)) continue;
    for (const PodPtr& pod : cluster_.table.info(row).pods)
      out[row].existing += api::networkTopologySelectorOf(pod->pod->meta.annotations) == kind;
  }
  return out;
}

Result<std::vector<Row>> NetworkPlanner::deal(const api::NetworkTopologySpec& spec,
                                              std::string_view kind,
                                              const std::vector<int64_t>& slots, size_t members) {
  const NetworkTree* network = tree();
  if (!network) return fail(mangrove::Code::kUnavailable, "no cluster network topology");
  const auto wish = wishOf(spec, *network);
  if (!wish) return pass(wish.error());
  const auto shares = dealOver(*network, offers(kind, slots), *wish, static_cast<int64_t>(members));
  if (!shares) return pass(shares.error());
  std::vector<Row> out;
  for (const auto& [row, count] : *shares) out.insert(out.end(), static_cast<size_t>(count), row);
  return out;
}

}  // namespace mangrove::placement
