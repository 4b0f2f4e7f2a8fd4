#pragma once
// All visible objects, by resource, by owner and by time of expiry. Owner thread only.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/collection.h"
#include "store/object.h"

namespace mangrove::store {

class State {
 public:
  // Made when missing, without fields.
  Collection& of(Interned resource);
  const Collection* find(Interned resource) const;
  void declare(ResourceSpec spec, const std::function<ObjectPtr(const ObjectPtr&)>& make);

  // Both return what was there before.
  ObjectPtr put(const ObjectPtr& object);
  ObjectPtr erase(Interned resource, std::string_view path);

  void settleHead(const Object& object);
  void dropHead();

  std::vector<ObjectPtr> ownedBy(std::string_view uid) const;
  std::vector<ObjectPtr> expired(WallTime now, size_t max) const;
  std::optional<WallTime> nextExpiry() const;
  std::vector<Interned> resources() const;
  size_t objects() const { return objects_; }
  size_t bytes() const { return bytes_; }

 private:
  struct ByOwner {
    using is_transparent = void;
    using Entry = std::pair<std::string_view, const Object*>;  // owner's uid, the owned
    bool operator()(const Entry& a, const Entry& b) const;
    bool operator()(const Entry& a, std::string_view uid) const { return a.first < uid; }
  };
  struct ByExpiry {
    bool operator()(const Object* a, const Object* b) const {
      return std::pair(a->expireAt(), a->revision()) < std::pair(b->expireAt(), b->revision());
    }
  };
  void link(const ObjectPtr& object);
  void unlink(const ObjectPtr& object);
  ObjectPtr shared(const Object& object) const;

  std::unordered_map<Interned, std::unique_ptr<Collection>> collections_;
  // Both point into objects that collections_ holds.
  std::set<ByOwner::Entry, ByOwner> owned_;
  std::set<const Object*, ByExpiry> expiring_;
  size_t objects_ = 0;
  size_t bytes_ = 0;
};

}  // namespace mangrove::store
