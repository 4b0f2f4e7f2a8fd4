#include "placement/plugins/coscheduling/network_tree.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

namespace mangrove::placement {

namespace {

const api::NetworkLayer* layerNamed(const api::ClusterNetworkTopologySpec& spec,
                                    std::string_view name) {
  for (const auto& layer : spec.networkTopologySpec)
    if (layer.topologyLayer == name) return &layer;
  return nullptr;
}

// From the nodes up to the cluster; empty when the chain is broken.
std::vector<const api::NetworkLayer*> chainOf(const api::ClusterNetworkTopologySpec& spec) {
  std::vector<const api::NetworkLayer*> chain;
  for (std::string_view name = api::kNodeTopologyLayer; name != api::kClusterTopologyLayer;) {
    const api::NetworkLayer* layer = layerNamed(spec, name);
    if (!layer || chain.size() > spec.networkTopologySpec.size()) return {};
    chain.push_back(layer);
    if (layer->parentTopologyLayer.empty()) break;
    name = layer->parentTopologyLayer;
  }
  return chain;
}

std::string valueOf(const api::NetworkLayer& layer, const api::Node& node) {
  for (const auto& key : layer.labelKey)
    if (const auto value = node.meta.labels.get(key); value && !value->empty())
      return std::string(*value);
  return "";
}

int64_t floorTo(int64_t amount, int64_t multiple) {
  return multiple > 1 ? amount / multiple * multiple : amount;
}

// Sums over the tree and the dealing.
class Dealer {
 public:
  Dealer(const NetworkTree& tree, const std::vector<NetworkOffer>& offers, const GatherWish& wish)
      : tree_(tree), wish_(wish), sums_(tree.places.size()) {
    for (size_t at = tree.places.size(); at-- > 0;) {
      const auto& place = tree.places[at];
      if (place.row != kNoRow && place.row < offers.size()) sums_[at] = offers[place.row];
      sums_[at].slots = floorTo(sums_[at].slots, multipleAt(at));
      if (at == 0) continue;
      sums_[place.parent].slots += sums_[at].slots;
      sums_[place.parent].existing += sums_[at].existing;
      sums_[place.parent].cost += sums_[at].cost;
    }
  }

  std::vector<Row> rowsByNearness() const {
    std::vector<size_t> leaves;
    for (size_t at = 0; at < tree_.places.size(); at++)
      if (tree_.places[at].row != kNoRow && sums_[at].slots > 0) leaves.push_back(at);
    std::sort(leaves.begin(), leaves.end(),
              [&](size_t a, size_t b) { return comesFirst(a, b, true); });
    std::vector<Row> out;
    for (size_t at : leaves) out.push_back(tree_.places[at].row);
    return out;
  }

  Result<std::vector<std::pair<Row, int64_t>>> deal(int64_t members) {
    for (size_t candidate : candidates(members)) {
      shares_.clear();
      if (give(candidate, members) == members) return std::move(shares_);
    }
    return fail(mangrove::Code::kUnavailable, "{}", missing(members));
  }

 private:
  int64_t multipleAt(size_t at) const {
    const size_t layer = tree_.places[at].layer;
    return layer < wish_.multiples.size() ? wish_.multiples[layer] : 0;
  }

  // The deepest places that can hold everybody, below one of the layer that must.
  std::vector<size_t> candidates(int64_t members) const {
    std::vector<size_t> best;
    size_t deepest = 0;
    for (size_t at = 0; at < tree_.places.size(); at++) {
      const size_t layer = tree_.places[at].layer;
      if (layer < wish_.mustLayer || sums_[at].slots < members) continue;
      if (layer > deepest) best.clear();
      deepest = std::max(deepest, layer);
      if (layer == deepest) best.push_back(at);
    }
    std::sort(best.begin(), best.end(), [&](size_t a, size_t b) { return comesFirst(a, b, true); });
    return best;
  }

  // More pods of the job's kind first, then the tighter (or, among children, the wider) place; the
  // place itself, then what it is part of. Then where it does less harm.
  bool comesFirst(size_t a, size_t b, bool tighter) const {
    for (size_t x = a, y = b;; x = tree_.places[x].parent, y = tree_.places[y].parent) {
      if (sums_[x].existing != sums_[y].existing) return sums_[x].existing > sums_[y].existing;
      if (x == 0) break;
    }
    for (size_t x = a, y = b;; x = tree_.places[x].parent, y = tree_.places[y].parent) {
      if (sums_[x].slots != sums_[y].slots)
        return tighter ? sums_[x].slots < sums_[y].slots : sums_[x].slots > sums_[y].slots;
      if (x == 0) break;
    }
    if (sums_[a].cost != sums_[b].cost) return sums_[a].cost < sums_[b].cost;
    return tree_.places[a].name < tree_.places[b].name;
  }

  // How many of them found a place below.
  int64_t give(size_t at, int64_t wanted) {
    const int64_t most = floorTo(std::min(sums_[at].slots, wanted), multipleAt(at));
    if (most <= 0) return 0;
    if (tree_.places[at].row != kNoRow) {
      shares_.emplace_back(tree_.places[at].row, most);
      return most;
    }
    std::vector<size_t> children = tree_.places[at].children;
    std::sort(children.begin(), children.end(),
              [&](size_t a, size_t b) { return comesFirst(a, b, false); });
    int64_t given = 0;
    for (size_t child : children) given += give(child, most - given);
    return given;
  }

  std::string missing(int64_t members) const {
    std::string places;
    for (size_t at = 0; at < tree_.places.size(); at++)
      if (tree_.places[at].layer == wish_.mustLayer)
        places += fmt::format("{}{} {}", places.empty() ? "" : ", ",
                              at == 0 ? "the cluster" : tree_.places[at].name, sums_[at].slots);
    return fmt::format("{} members must stay in one place of layer {}; there are slots for: {}",
                       members, tree_.layers[wish_.mustLayer], places.empty() ? "none" : places);
  }

  const NetworkTree& tree_;
  const GatherWish& wish_;
  std::vector<NetworkOffer> sums_;  // by place
  std::vector<std::pair<Row, int64_t>> shares_;
};

}  // namespace

std::optional<NetworkTree> networkTreeOf(const api::ClusterNetworkTopologySpec& spec,
                                         std::span<const std::pair<Row, const api::Node*>> nodes) {
  const auto chain = chainOf(spec);
  if (chain.empty()) return std::nullopt;
  NetworkTree tree;
  tree.layers.emplace_back(api::kClusterTopologyLayer);
  for (size_t i = chain.size(); i-- > 0;) tree.layers.push_back(chain[i]->topologyLayer);
  tree.places.push_back({});
  std::map<std::pair<size_t, std::string>, size_t> known;  // by parent and name
  for (const auto& [row, node] : nodes) {
    std::vector<std::string> path;  // the layers between cluster and node
    bool isComplete = true;
    for (size_t i = chain.size(); i-- > 1;) {
      path.push_back(valueOf(*chain[i], *node));
      // Only of the layer right above it a node may lack the label: it is a place by itself.
      if (path.back().empty() && i == 1) path.back() = node->meta.name.str();
      isComplete = isComplete && !path.back().empty();
    }
    if (!isComplete) continue;
    path.push_back(node->meta.name.str());
    size_t at = 0;
    for (size_t layer = 1; layer <= path.size(); layer++) {
      const auto [found, isNew] = known.try_emplace({at, path[layer - 1]}, tree.places.size());
      if (isNew) {
        tree.places.push_back({layer, path[layer - 1], at, {}, kNoRow});
        tree.places[at].children.push_back(found->second);
      }
      at = found->second;
    }
    tree.places[at].row = row;
  }
  return tree;
}

Result<GatherWish> wishOf(const api::NetworkTopologySpec& spec, const NetworkTree& tree) {
  GatherWish out;
  out.multiples.assign(tree.layers.size(), 0);
  for (const auto& rule : spec.gatherStrategy) {
    const auto layer = std::find(tree.layers.begin(), tree.layers.end(), rule.layer);
    if (layer == tree.layers.end())
      return invalid("network-topology-spec: no layer '{}' in the cluster's network topology",
                     rule.layer);
    const auto at = static_cast<size_t>(layer - tree.layers.begin());
    out.multiples[at] = rule.podCountMultiple;
    // The one closest to the nodes counts; staying close is always tried.
    if (rule.strategy == "MustGather") out.mustLayer = std::max(out.mustLayer, at);
  }
  return out;
}

Result<std::vector<std::pair<Row, int64_t>>> dealOver(const NetworkTree& tree,
                                                      const std::vector<NetworkOffer>& offers,
                                                      const GatherWish& wish, int64_t members) {
  return Dealer(tree, offers, wish).deal(members);
}

std::vector<Row> nearestFirst(const NetworkTree& tree, const std::vector<NetworkOffer>& offers) {
  const GatherWish anywhere;
  return Dealer(tree, offers, anywhere).rowsByNearness();
}

namespace {

// Depth first. Returns how many nodes are below.
int32_t describe(const NetworkTree& tree, size_t at, std::vector<api::TopologyDetail>& out) {
  const NetworkTree::Place& place = tree.places[at];
  if (place.row != kNoRow) return 1;
  const auto infoOf = [&](size_t of) {
    return api::TopologyInfo{tree.layers[tree.places[of].layer], tree.places[of].name};
  };
  const size_t mine = out.size();
  out.push_back({infoOf(at), std::nullopt, "", {}, 0});
  if (at != 0) out[mine].parentTopologyInfo = infoOf(place.parent);
  if (place.layer + 1 < tree.layers.size())
    out[mine].childTopologyLayer = tree.layers[place.layer + 1];
  std::vector<size_t> children = place.children;
  std::sort(children.begin(), children.end(),
            [&](size_t a, size_t b) { return tree.places[a].name < tree.places[b].name; });
  int32_t nodes = 0;
  for (size_t child : children) {
    if (tree.places[child].row == kNoRow)
      out[mine].childTopologyNames.push_back(tree.places[child].name);
    nodes += describe(tree, child, out);
  }
  out[mine].nodeNum = nodes;
  return nodes;
}

}  // namespace

std::vector<api::TopologyDetail> detailsOf(const NetworkTree& tree) {
  std::vector<api::TopologyDetail> out;
  describe(tree, 0, out);
  return out;
}

}  // namespace mangrove::placement
