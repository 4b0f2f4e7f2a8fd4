#pragma once
// A set of paths in an object, in the spelling of managedFields' FieldsV1: "f:name" for a member,
// "k:{…}" for an element of a list that is a map, "v:…" for an element of a list that is a set.
//
//   {"f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {".": {}, "f:image": {}}}}}
//
// A tree: a node may itself be in the set (isMember, written "." when it has children too) and have
// children that are. Values; pure.

#include <map>
#include <string>
#include <string_view>

#include "json/arena.h"

namespace mangrove::apiserver {

struct FieldSet {
  bool isMember = false;
  std::map<std::string, FieldSet, std::less<>> children;

  bool empty() const { return !isMember && children.empty(); }
  bool operator==(const FieldSet&) const = default;

  // Foreign text: what is no such tree is left out.
  static FieldSet parse(const json::Value& fields);
  json::Object toJson(const json::Storage& storage = {}) const;

  const FieldSet* child(std::string_view element) const;
  void add(const FieldSet& other);
  // Takes out every path of `other`; nodes that hold nothing any more go.
  void subtract(const FieldSet& other);
  // Takes out `element` and everything below it.
  void cut(std::string_view element) {
    if (auto at = children.find(element); at != children.end()) children.erase(at);
  }
  FieldSet minus(const FieldSet& other) const;
};

// How conflicts and messages spell a path: .spec.containers[name="web"].image
std::string elementText(std::string_view element);

}  // namespace mangrove::apiserver
