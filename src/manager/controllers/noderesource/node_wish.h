#pragma once
// What the node-resource controller wants on a Node object, free of what is there: owned resource
// names with an amount or "not there", annotations and labels likewise. Plugins add to it; the
// difference to the node becomes one merge patch (never the whole object), so that nobody else's
// fields are touched.
//
//   NodeWish wish;
//   wish.setResource(names.batchCpu, Quantity::of(25000));
//   json::Object patch = patchOf(node, wish);             // {} when nothing would change
//
// Values; any thread.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/object/node.h"
#include "json/value.h"

namespace mangrove::manager {

struct NodeWish {
  // In capacity and allocatable alike; nullopt: not there.
  std::map<Interned, std::optional<Quantity>> resources;
  std::map<std::string, std::optional<std::string>, std::less<>> annotations;
  std::map<std::string, std::optional<std::string>, std::less<>> labels;

  void setResource(Interned name, Quantity amount) { resources[name] = std::move(amount); }
  void removeResource(Interned name) { resources[name] = std::nullopt; }
  const std::optional<Quantity>* resource(Interned name) const {
    const auto at = resources.find(name);
    return at == resources.end() ? nullptr : &at->second;
  }
};

// The parts of a Node that a wish can change.
struct NodeOwned {
  api::ResourceList capacity;
  api::ResourceList allocatable;
  api::Labels labels;
  api::Annotations annotations;
};
NodeOwned ownedOf(const api::Node& node);
// The node as it would be.
NodeOwned granted(const api::Node& node, const NodeWish& wish);

// The merge patch from the node to the wish; parts not asked for are left out. A quantity that is
// the same amount in another spelling is no change.
struct PatchParts {
  bool status = true;
  bool meta = true;
};
json::Object patchOf(const api::Node& node, const NodeWish& wish, PatchParts parts = {});

}  // namespace mangrove::manager
