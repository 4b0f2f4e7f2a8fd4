#pragma once
// The objects of one resource in memory: the visible ones in list order with their field indexes,
// and over them the head, the few keys whose newest version is not yet durable. Owner thread only.

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/object.h"
#include "store/resource.h"

namespace mangrove::store {

struct ByPath {
  using is_transparent = void;
  static std::string_view path(std::string_view text) { return text; }
  static std::string_view path(const ObjectPtr& object) { return object->path(); }
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return path(a) < path(b);
  }
};
using ObjectsByPath = std::set<ObjectPtr, ByPath>;

// Orders by the text of one field, then by path, so that equal values lie together in list order.
struct ByField {
  using is_transparent = void;
  using Place = std::pair<std::string_view, std::string_view>;  // field text, path
  size_t field;

  Place place(const ObjectPtr& object) const { return {object->field(field), object->path()}; }
  static Place place(const Place& at) { return at; }
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return place(a) < place(b);
  }
};
using ObjectsByField = std::set<ObjectPtr, ByField>;

class Collection {
 public:
  explicit Collection(ResourceSpec spec);

  const ResourceSpec& spec() const { return spec_; }
  const ObjectsByPath& all() const { return objects_; }
  // Null when the field has no index.
  const ObjectsByField* index(size_t field) const;
  ObjectPtr find(std::string_view path) const;
  // Returns what was there before.
  ObjectPtr put(ObjectPtr object);
  ObjectPtr erase(std::string_view path);
  // Every object replaced by what `make` gives for it, under new fields.
  void redeclare(ResourceSpec spec, const std::function<ObjectPtr(const ObjectPtr&)>& make);

  // Learns from this resource's objects how to keep them small.
  BodyPacker& packer() { return packer_; }

  // The head: null when the key does not exist there.
  ObjectPtr findHead(std::string_view path) const;
  void setHead(std::string path, Revision revision, ObjectPtr object);
  // The version of that revision is durable; the head keeps only what is newer.
  void settleHead(const std::string& path, Revision revision);
  void dropHead() { head_.clear(); }

 private:
  struct Ahead {
    Revision revision;
    ObjectPtr object;  // null: removed
  };
  struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  void makeIndexes();
  void addToIndexes(const ObjectPtr& object);
  void removeFromIndexes(const ObjectPtr& object);

  ResourceSpec spec_;
  BodyPacker packer_;
  ObjectsByPath objects_;
  std::vector<ObjectsByField> indexes_;
  std::unordered_map<std::string, Ahead, TextHash, std::equal_to<>> head_;
};

}  // namespace mangrove::store
