#pragma once
// The network as a tree over the nodes, by the labels that a ClusterNetworkTopology names, and how
// the members of a job are dealt to it: as close together as they fit, where the fit is tightest.
//
//   auto tree = networkTreeOf(topology.spec, nodes);                 // nullopt: a layer is missing
//   auto shares = dealOver(*tree, offers, wish, 15);                  // {{row of n2, 7}, {n1, 5}, …}
//   auto nearest = nearestFirst(*tree, offers);                       // for one pod
//
// Places are told apart by their whole path: equal names under different parents are different
// places. Pure functions, any thread.

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/annotations/gang.h"
#include "api/koordinator/cluster_network_topology.h"
#include "api/object/node.h"
#include "base/result.h"
#include "placement/framework/verdict.h"

namespace mangrove::placement {

struct NetworkTree {
  struct Place {
    size_t layer = 0;
    std::string name;
    size_t parent = 0;  // of the root: itself
    std::vector<size_t> children;
    Row row = kNoRow;  // of a node
  };
  std::vector<std::string> layers;  // the cluster first, nodes last
  std::vector<Place> places;        // the root first, parents before their children
};
std::optional<NetworkTree> networkTreeOf(const api::ClusterNetworkTopologySpec& spec,
                                         std::span<const std::pair<Row, const api::Node*>> nodes);

// What a node offers to the job.
struct NetworkOffer {
  int64_t slots = 0;     // members that fit there one after the other
  int64_t existing = 0;  // pods of the same job's kind that are there
  int64_t cost = 0;      // harm done by going there (victims); less is better
};
struct GatherWish {
  size_t mustLayer = 0;            // all members in one place of this layer; 0: the cluster
  std::vector<int64_t> multiples;  // by layer: members of a place are a multiple of it; 0, 1: any
};
Result<GatherWish> wishOf(const api::NetworkTopologySpec& spec, const NetworkTree& tree);

// How many members go to which node, the fullest share first; an error says what is missing.
// `offers` by row.
Result<std::vector<std::pair<Row, int64_t>>> dealOver(const NetworkTree& tree,
                                                      const std::vector<NetworkOffer>& offers,
                                                      const GatherWish& wish, int64_t members);

// Rows of the tree that offer a slot, those next to pods of the same kind first.
std::vector<Row> nearestFirst(const NetworkTree& tree, const std::vector<NetworkOffer>& offers);

// What the object's status says: every place above the nodes with its parent and children.
std::vector<api::TopologyDetail> detailsOf(const NetworkTree& tree);

}  // namespace mangrove::placement
