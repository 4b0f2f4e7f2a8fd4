#pragma once
// Where the members of a group go in the network: the tree of the cluster as it is at the moment,
// and a deal of the members over it.
//
//   NetworkPlanner planner(cluster);
//   planner.deal(spec, "kind of job", slotsByRow, {}, 8)  // rows by member; an error says why not
//   planner.news()                                        // what its status does not say yet
//
// The tree is made anew when nodes or the ClusterNetworkTopology have changed. An object whose
// layers lead nowhere changes nothing: the last good one holds. Owner thread only.

#include <string>
#include <vector>

#include "placement/cluster/cluster.h"
#include "placement/plugins/coscheduling/network_tree.h"

namespace mangrove::placement {

class NetworkPlanner {
 public:
  explicit NetworkPlanner(const Cluster& cluster) : cluster_(cluster) {}

  // `kind`: pods with the same network-topology-selector draw the job near; "": none do. `costs` by
  // row; empty: none.
  Result<std::vector<Row>> deal(const api::NetworkTopologySpec& spec, std::string_view kind,
                                const std::vector<int64_t>& slots,
                                const std::vector<int64_t>& costs, size_t members);

  // Null: there is no topology.
  const NetworkTree* tree();
  // The status the object should have and has not; nullopt: nothing is to be written. Asked again
  // it answers again only when something changed.
  std::optional<api::ClusterNetworkTopologyStatus> news();
  void notWritten() { toldLayout_ = toldNetwork_ = ~uint64_t{0}; }

 private:
  void rebuild();
  std::vector<NetworkOffer> offers(std::string_view kind, const std::vector<int64_t>& slots,
                                   const std::vector<int64_t>& costs) const;

  const Cluster& cluster_;
  std::optional<NetworkTree> tree_;  // of the network and the nodes as of:
  uint64_t networkSeen_ = 0, layoutSeen_ = ~uint64_t{0};
  std::optional<api::ClusterNetworkTopologySpec> good_;  // what the tree is made by
  uint64_t toldNetwork_ = ~uint64_t{0}, toldLayout_ = ~uint64_t{0};
};

}  // namespace mangrove::placement
