#include "store/collection.h"

namespace mangrove::store {

Collection::Collection(ResourceSpec spec) : spec_(std::move(spec)) {
  makeIndexes();
}

void Collection::makeIndexes() {
  indexes_.clear();
  for (size_t i = 0; i < spec_.fields.size(); ++i)
    if (spec_.fields[i].indexed) indexes_.emplace_back(ByField{i});
}

const ObjectsByField* Collection::index(size_t field) const {
  for (const ObjectsByField& index : indexes_)
    if (index.key_comp().field == field) return &index;
  return nullptr;
}

ObjectPtr Collection::find(std::string_view path) const {
  const auto at = objects_.find(path);
  return at == objects_.end() ? nullptr : *at;
}

void Collection::addToIndexes(const ObjectPtr& object) {
  for (ObjectsByField& index : indexes_) index.insert(object);
}

void Collection::removeFromIndexes(const ObjectPtr& object) {
  for (ObjectsByField& index : indexes_) index.erase(object);
}

ObjectPtr Collection::put(ObjectPtr object) {
  ObjectPtr before = erase(object->path());
  addToIndexes(object);
  objects_.insert(std::move(object));
  return before;
}

ObjectPtr Collection::erase(std::string_view path) {
  const auto at = objects_.find(path);
  if (at == objects_.end()) return nullptr;
  ObjectPtr before = *at;
  objects_.erase(at);
  removeFromIndexes(before);
  return before;
}

void Collection::redeclare(ResourceSpec spec,
                           const std::function<ObjectPtr(const ObjectPtr&)>& make) {
  const ObjectsByPath old = std::exchange(objects_, {});
  spec_ = std::move(spec);
  makeIndexes();
  for (const ObjectPtr& object : old) put(make(object));
  for (auto& [path, ahead] : head_)
    if (ahead.object) ahead.object = make(ahead.object);
}

ObjectPtr Collection::findHead(std::string_view path) const {
  const auto at = head_.find(path);
  return at == head_.end() ? find(path) : at->second.object;
}

void Collection::setHead(std::string path, Revision revision, ObjectPtr object) {
  head_.insert_or_assign(std::move(path), Ahead{revision, std::move(object)});
}

void Collection::settleHead(const std::string& path, Revision revision) {
  const auto at = head_.find(path);
  if (at != head_.end() && at->second.revision == revision) head_.erase(at);
}

}  // namespace mangrove::store
