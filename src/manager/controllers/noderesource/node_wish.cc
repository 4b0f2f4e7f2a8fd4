#include "manager/controllers/noderesource/node_wish.h"

#include "api/wire/write.h"

namespace mangrove::manager {
namespace {

void grantResources(api::ResourceList& list, const NodeWish& wish) {
  for (const auto& [name, amount] : wish.resources) {
    if (amount)
      list.set(name, *amount);
    else
      list.erase(name.view());
  }
}

template <class Map, class Wishes>
void grantTexts(Map& map, const Wishes& wishes) {
  for (const auto& [key, value] : wishes) {
    if (value)
      map.set(key, *value);
    else
      map.erase(key);
  }
}

json::Object resourcePatch(const api::ResourceList& have, const NodeWish& wish) {
  json::Object out;
  for (const auto& [name, amount] : wish.resources) {
    const Quantity* now = have.find(name);
    if (amount && (now == nullptr || *now != *amount)) out[name.view()] = api::toJson(*amount);
    if (!amount && now != nullptr) out[name.view()] = nullptr;
  }
  return out;
}

template <class Map, class Wishes>
json::Object textPatch(const Map& have, const Wishes& wishes) {
  json::Object out;
  for (const auto& [key, value] : wishes) {
    const auto now = have.get(key);
    if (value && (!now || *now != *value)) out[key] = *value;
    if (!value && now) out[key] = nullptr;
  }
  return out;
}

void putPart(json::Object& patch, std::string_view outer, std::string_view inner,
             json::Object part) {
  if (part.empty()) return;
  json::Value& at = patch[outer];
  if (!at.is_object()) at = json::Object();
  at.get_object()[inner] = std::move(part);
}

}  // namespace

NodeOwned ownedOf(const api::Node& node) {
  return {node.status.capacity, node.status.allocatable, node.meta.labels, node.meta.annotations};
}

NodeOwned granted(const api::Node& node, const NodeWish& wish) {
  NodeOwned out = ownedOf(node);
  grantResources(out.capacity, wish);
  grantResources(out.allocatable, wish);
  grantTexts(out.labels, wish.labels);
  grantTexts(out.annotations, wish.annotations);
  return out;
}

json::Object patchOf(const api::Node& node, const NodeWish& wish, PatchParts parts) {
  json::Object patch;
  if (parts.status) {
    putPart(patch, "status", "capacity", resourcePatch(node.status.capacity, wish));
    putPart(patch, "status", "allocatable", resourcePatch(node.status.allocatable, wish));
  }
  if (parts.meta) {
    putPart(patch, "metadata", "annotations", textPatch(node.meta.annotations, wish.annotations));
    putPart(patch, "metadata", "labels", textPatch(node.meta.labels, wish.labels));
  }
  return patch;
}

}  // namespace mangrove::manager
