#include "placement/plugins/coscheduling/network_tree.h"

#include <gtest/gtest.h>

namespace mangrove::placement {
namespace {

struct Host {
  std::string name, spine, block;
};

class Network {
 public:
  explicit Network(const std::vector<Host>& hosts) {
    for (const Host& host : hosts) {
      api::Labels labels;
      if (!host.spine.empty()) labels.set("spine", host.spine);
      if (!host.block.empty()) labels.set("block", host.block);
      api::Node node;
      node.meta.name = api::Text(host.name);
      node.meta.labels = labels;
      nodes_.push_back(std::move(node));
    }
    api::ClusterNetworkTopologySpec spec;
    spec.networkTopologySpec = {{"SpineLayer", "ClusterTopologyLayer", {"spine"}},
                                {"BlockLayer", "SpineLayer", {"block"}},
                                {"NodeTopologyLayer", "BlockLayer", {}}};
    std::vector<std::pair<Row, const api::Node*>> rows;
    for (Row row = 0; row < nodes_.size(); row++) rows.emplace_back(row, &nodes_[row]);
    tree = *networkTreeOf(spec, rows);
  }
  // "n2:7 n1:5", or why not.
  std::string deal(std::vector<NetworkOffer> offers, int64_t members,
                   std::vector<api::GatherRule> rules = {}) {
    const auto wish = wishOf({std::move(rules)}, tree);
    if (!wish) return wish.error().text();
    const auto shares = dealOver(tree, offers, *wish, members);
    if (!shares) return shares.error().sentence();
    std::string out;
    for (const auto& [row, count] : *shares)
      out += (out.empty() ? "" : " ") + nodes_[row].meta.name.str() + ":" + std::to_string(count);
    return out;
  }
  NetworkTree tree;

 private:
  std::vector<api::Node> nodes_;
};

const std::vector<Host> kFour = {
    {"n1", "s1", "b1"}, {"n2", "s1", "b1"}, {"n3", "s1", "b2"}, {"n4", "s1", "b2"}};
const std::vector<NetworkOffer> kOffers = {{5}, {7}, {6}, {4}};

TEST(Network, deals_the_widest_first_and_keeps_multiples) {
  Network network(kFour);
  EXPECT_EQ(network.deal(kOffers, 15), "n2:7 n1:5 n3:3");
  EXPECT_EQ(network.deal(kOffers, 20, {{"NodeTopologyLayer", "PreferGather", 4}}),
            "20 members must stay in one place of layer ClusterTopologyLayer; there are slots for: "
            "the cluster 16");
  EXPECT_EQ(network.deal(kOffers, 16, {{"NodeTopologyLayer", "PreferGather", 4}}),
            "n1:4 n2:4 n3:4 n4:4");
  EXPECT_EQ(network.deal(kOffers, 16, {{"BlockLayer", "PreferGather", 8}}), "n2:7 n1:1 n3:6 n4:2");
  EXPECT_EQ(
      network.deal(kOffers, 16, {{"BlockLayer", "PreferGather", 8}, {"NodeTopologyLayer", "", 2}}),
      "n2:6 n1:2 n3:6 n4:2");
}

TEST(Network, takes_the_tightest_place_that_holds_everybody_unless_its_kind_is_elsewhere) {
  Network network(kFour);
  const std::vector<api::GatherRule> must = {{"BlockLayer", "MustGather", 0}};
  EXPECT_EQ(network.deal({{5}, {5}, {3}, {3}}, 6, must), "n3:3 n4:3");
  EXPECT_EQ(network.deal({{5, 2}, {5}, {3}, {3}}, 6, must), "n1:5 n2:1");
  EXPECT_EQ(
      network.deal({{5}, {5}, {3}, {3}}, 11, must),
      "11 members must stay in one place of layer BlockLayer; there are slots for: b1 10, b2 6");
  EXPECT_EQ(network.deal({{5}, {9}, {3}, {3}}, 6, must), "n2:6");
  // Alike otherwise: where it does less harm.
  EXPECT_EQ(network.deal({{3, 0, 9}, {3, 0, 9}, {3, 0, 1}, {3, 0, 9}}, 6, must), "n3:3 n4:3");
  EXPECT_NE(network.deal(kOffers, 6, {{"Rack", "MustGather", 0}}).find("no layer 'Rack'"),
            std::string::npos);
}

TEST(Network, one_pod_is_drawn_to_its_kind_and_then_to_the_tightest_place) {
  Network network({{"n1", "s1", "b1"},
                   {"n2", "s1", "b1"},
                   {"n3", "s1", "b2"},
                   {"n4", "s1", "b2"},
                   {"n5", "s2", "b3"}});
  EXPECT_EQ(nearestFirst(network.tree, {{1}, {1}, {1}, {0, 1}, {1}}),
            (std::vector<Row>{2, 0, 1, 4}));
  EXPECT_EQ(nearestFirst(network.tree, {{1}, {1}, {1}, {1}, {1}}),
            (std::vector<Row>{4, 0, 1, 2, 3}));
}

TEST(Network, nodes_without_labels_are_left_out_or_places_by_themselves) {
  Network network(
      {{"n1", "s1", "b1"}, {"lost", "", "b1"}, {"alone", "s1", ""}, {"n2", "s2", "b1"}});
  size_t leaves = 0, blocks = 0;
  for (const auto& place : network.tree.places) {
    leaves += place.row != kNoRow;
    blocks += place.layer == 2;
    EXPECT_NE(place.name, "lost");
  }
  EXPECT_EQ(leaves, 3u);
  EXPECT_EQ(blocks, 3u);  // b1 of s1, alone, b1 of s2
}

TEST(Network, a_missing_layer_makes_no_tree) {
  api::ClusterNetworkTopologySpec spec;
  spec.networkTopologySpec = {{"NodeTopologyLayer", "BlockLayer", {}}};
  EXPECT_FALSE(networkTreeOf(spec, {}));
}

}  // namespace
}  // namespace mangrove::placement
