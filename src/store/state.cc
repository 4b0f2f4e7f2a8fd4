#include "store/state.h"

#include <algorithm>
#include <tuple>

namespace mangrove::store {

bool State::ByOwner::operator()(const Entry& a, const Entry& b) const {
  return std::tuple(a.first, a.second->resource(), a.second->path()) <
         std::tuple(b.first, b.second->resource(), b.second->path());
}

Collection& State::of(Interned resource) {
  auto& slot = collections_[resource];
  if (!slot) slot = std::make_unique<Collection>(ResourceSpec{resource});
  return *slot;
}

const Collection* State::find(Interned resource) const {
  const auto at = collections_.find(resource);
  return at == collections_.end() ? nullptr : at->second.get();
}

void State::declare(ResourceSpec spec, const std::function<ObjectPtr(const ObjectPtr&)>& make) {
  Collection& collection = of(spec.name);
  for (const ObjectPtr& object : collection.all()) unlink(object);
  collection.redeclare(std::move(spec), make);
  for (const ObjectPtr& object : collection.all()) link(object);
}

ObjectPtr State::put(const ObjectPtr& object) {
  ObjectPtr before = of(object->resource()).put(object);
  if (before) unlink(before);
  link(object);
  return before;
}

ObjectPtr State::erase(Interned resource, std::string_view path) {
  ObjectPtr before = of(resource).erase(path);
  if (before) unlink(before);
  return before;
}

void State::link(const ObjectPtr& object) {
  objects_ += 1;
  bytes_ += object->bytes();
  for (std::string_view uid : object->owners()) owned_.emplace(uid, object.get());
  if (object->expireAt()) expiring_.insert(object.get());
}

void State::unlink(const ObjectPtr& object) {
  objects_ -= 1;
  bytes_ -= object->bytes();
  for (std::string_view uid : object->owners()) owned_.erase({uid, object.get()});
  if (object->expireAt()) expiring_.erase(object.get());
}

void State::settleHead(const Object& object) {
  of(object.resource()).settleHead(std::string(object.path()), object.revision());
}

void State::dropHead() {
  for (auto& [resource, collection] : collections_) collection->dropHead();
}

ObjectPtr State::shared(const Object& object) const {
  return find(object.resource())->find(object.path());
}

std::vector<ObjectPtr> State::ownedBy(std::string_view uid) const {
  std::vector<ObjectPtr> found;
  for (auto at = owned_.lower_bound(uid); at != owned_.end() && at->first == uid; ++at)
    found.push_back(shared(*at->second));
  return found;
}

std::vector<ObjectPtr> State::expired(WallTime now, size_t max) const {
  std::vector<ObjectPtr> found;
  for (const Object* object : expiring_) {
    if (found.size() == max || *object->expireAt() > now) break;
    found.push_back(shared(*object));
  }
  return found;
}

std::optional<WallTime> State::nextExpiry() const {
  return expiring_.empty() ? std::nullopt : (*expiring_.begin())->expireAt();
}

std::vector<Interned> State::resources() const {
  std::vector<Interned> names;
  for (const auto& [name, collection] : collections_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace mangrove::store
