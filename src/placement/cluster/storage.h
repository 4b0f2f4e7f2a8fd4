#pragma once
// Volumes, claims, classes and drivers as the volume plugins see them, with what we have promised
// but the server does not show yet. Owner thread only.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/object/storage.h"

namespace mangrove::placement {

template <class T>
class ObjectMap {
 public:
  using Ptr = std::shared_ptr<const T>;
  void put(std::string key, Ptr object) { objects_[std::move(key)] = std::move(object); }
  void erase(std::string_view key) {
    if (auto at = objects_.find(key); at != objects_.end()) objects_.erase(at);
  }
  Ptr find(std::string_view key) const {
    const auto at = objects_.find(key);
    return at == objects_.end() ? nullptr : at->second;
  }
  auto begin() const { return objects_.begin(); }
  auto end() const { return objects_.end(); }
  size_t size() const { return objects_.size(); }

 private:
  std::map<std::string, Ptr, std::less<>> objects_;
};

struct Storage {
  ObjectMap<api::PersistentVolume> volumes;
  ObjectMap<api::PersistentVolumeClaim> claims;  // "ns/name"
  ObjectMap<api::StorageClass> classes;
  ObjectMap<api::CsiNode> nodes;
  ObjectMap<api::CsiDriver> drivers;
  ObjectMap<api::CsiStorageCapacity> capacities;
  ObjectMap<api::VolumeAttachment> attachments;
  // Static volumes promised to a claim ("ns/name") of a pod on its way: by volume name.
  std::map<std::string, std::string, std::less<>> promised;
  uint64_t generation = 0;  // grows with every change
};

}  // namespace mangrove::placement
