#include "apiserver/apply/typed_fields.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apiserver/apply/elements.h"
#include "apiserver/core/object.h"

namespace mangrove::apiserver {

namespace {

constexpr std::array<std::string_view, 9> kServerMetadata = {
    "f:name",       "f:namespace",     "f:creationTimestamp", "f:selfLink",    "f:uid",
    "f:generation", "f:managedFields", "f:resourceVersion",   "f:generateName"};

const Schema& wholly() {
  static const Schema kWhole{.atomicMap = true};
  return kWhole;
}

bool isBuiltIn(const Schema& schema) {
  return !schema.name.empty();
}

// The schema below; where nothing is known, maps are walked and lists are taken whole. A field of
// a built-in kind that may hold anything is one leaf.
const Schema& below(const Schema& schema, std::string_view member) {
  const Schema* found = schema.isObject() ? schema.member(member) : nullptr;
  if (found && found->type == Type::kAny && isBuiltIn(schema)) return wholly();
  return found ? *found : anySchema();
}

bool isWalkedObject(const Schema& schema, const json::Value& value) {
  return value.is_object() && !schema.atomicMap;
}
bool isMapList(const Schema& schema, const json::Value& value) {
  return value.is_array() && schema.isArray() && schema.listType == ListType::kMap;
}
bool isSetList(const Schema& schema, const json::Value& value) {
  return value.is_array() && schema.isArray() && schema.listType == ListType::kSet;
}

std::string memberElement(std::string_view name) {
  std::string element;
  element.reserve(name.size() + 2);
  return element.append("f:").append(name);
}

void collect(const Schema& schema, const json::Value& value, FieldSet& set);

void collectMembers(const Schema& schema, const json::Object& object, FieldSet& set) {
  for (const auto& [name, member] : object) {
    FieldSet& child = set.children[memberElement(name)];
    collect(below(schema, name), member, child);
    if (schema.isMap()) child.isMember = true;
  }
}

void collect(const Schema& schema, const json::Value& value, FieldSet& set) {
  if (isWalkedObject(schema, value) && !value.get_object().empty()) {
    collectMembers(schema, value.get_object(), set);
  } else if ((isMapList(schema, value) || isSetList(schema, value)) && !value.get_array().empty()) {
    for (const json::Value& element : value.get_array()) {
      FieldSet& child = set.children[elementOf(schema, element)];
      child.isMember = true;
      if (isMapList(schema, value)) collect(itemsOf(schema), element, child);
    }
  } else {
    set.isMember = true;
  }
}

void nameEveryNode(FieldSet& set) {
  for (auto& [element, child] : set.children) {
    child.isMember = true;
    nameEveryNode(child);
  }
}

void dropServerFields(FieldSet& set) {
  set.cut("f:apiVersion");
  set.cut("f:kind");
  auto metadata = set.children.find("f:metadata");
  if (metadata == set.children.end()) return;
  for (auto element : kServerMetadata) metadata->second.cut(element);
  metadata->second.isMember = false;
  if (metadata->second.empty()) set.children.erase(metadata);
}

bool isWalkedList(const Schema& schema, const json::Value& value) {
  return isMapList(schema, value) || isSetList(schema, value);
}

void put(FieldSet& set, std::string element, FieldSet child) {
  if (!child.empty()) set.children.emplace(std::move(element), std::move(child));
}

FieldSet wholeNode(const Schema& schema, const json::Value& value) {
  FieldSet set{.isMember = true, .children = {}};
  collect(schema, value, set);
  return withEveryNode(std::move(set));
}

// Two walks over two states of an object. Most of it is the same in both, and is not even named:
// every write comes through here. json::equal, because Boost's == copies what it compares.
FieldSet changed(const Schema& schema, const json::Value& old, const json::Value& now);
FieldSet gone(const Schema& schema, const json::Value& old, const json::Value& now);

void changedMembers(const Schema& schema, const json::Object& old, const json::Object& now,
                    FieldSet& set) {
  for (const auto& [name, member] : now) {
    const json::Value* before = old.if_contains(name);
    if (before && json::equal(*before, member)) continue;
    const Schema& inner = below(schema, name);
    put(set, memberElement(name),
        before ? changed(inner, *before, member) : wholeNode(inner, member));
  }
}

// Elements usually stay in their place, so the same place is looked at first.
bool sameAt(const json::Array& other, size_t place, const json::Value& element) {
  return place < other.size() && json::equal(other[place], element);
}

void changedElements(const Schema& schema, const json::Array& old, const json::Array& now,
                     FieldSet& set) {
  Elements known(schema, old);
  for (size_t i = 0; i < now.size(); ++i) {
    if (sameAt(old, i, now[i])) continue;
    const std::string name = elementOf(schema, now[i]);
    const json::Value* before = known.find(name);
    put(set, name,
        before ? changed(itemsOf(schema), *before, now[i]) : wholeNode(itemsOf(schema), now[i]));
  }
}

FieldSet changed(const Schema& schema, const json::Value& old, const json::Value& now) {
  FieldSet set;
  if (json::equal(old, now)) return set;
  const bool filled =
      now.is_object() ? !now.get_object().empty() : now.is_array() && !now.get_array().empty();
  if (filled && isWalkedObject(schema, now) && old.is_object()) {
    changedMembers(schema, old.get_object(), now.get_object(), set);
  } else if (filled && isWalkedList(schema, now) && old.is_array()) {
    changedElements(schema, old.get_array(), now.get_array(), set);
  } else {
    collect(schema, now, set);
  }
  return set;
}

void goneMembers(const Schema& schema, const json::Object& old, const json::Object& now,
                 FieldSet& set) {
  for (const auto& [name, member] : old) {
    const json::Value* after = now.if_contains(name);
    if (after && json::equal(*after, member)) continue;
    const Schema& inner = below(schema, name);
    put(set, memberElement(name), after ? gone(inner, member, *after) : wholeNode(inner, member));
  }
}

void goneElements(const Schema& schema, const json::Array& old, const json::Array& now,
                  FieldSet& set) {
  Elements known(schema, now);
  for (size_t i = 0; i < old.size(); ++i) {
    if (sameAt(now, i, old[i])) continue;
    const std::string name = elementOf(schema, old[i]);
    const json::Value* after = known.find(name);
    FieldSet lost = after ? FieldSet() : wholeNode(itemsOf(schema), old[i]);
    if (after && schema.listType == ListType::kMap) lost = gone(itemsOf(schema), old[i], *after);
    put(set, name, std::move(lost));
  }
}

// A leaf in place of a map or list takes the nodes below it along.
FieldSet gone(const Schema& schema, const json::Value& old, const json::Value& now) {
  static const json::Object kNoMembers;
  static const json::Array kNoElements;
  FieldSet set;
  if (isWalkedObject(schema, old)) {
    goneMembers(schema, old.get_object(),
                isWalkedObject(schema, now) ? now.get_object() : kNoMembers, set);
  } else if (isWalkedList(schema, old)) {
    goneElements(schema, old.get_array(), isWalkedList(schema, now) ? now.get_array() : kNoElements,
                 set);
  }
  return set;
}

json::Object zeroMembers(const Schema& schema);

// nullopt: a field of this type is not there until somebody sets it.
std::optional<json::Value> zeroValue(const Schema& schema) {
  switch (schema.type) {
    case Type::kObject:
      if (schema.values) return std::nullopt;
      return json::Value(isBuiltIn(schema) ? zeroMembers(schema) : json::Object());
    case Type::kArray:
      return json::Array();
    case Type::kString:
      return json::Value("");
    case Type::kInteger:
      return json::Value(0);
    case Type::kBoolean:
      return json::Value(false);
    default:
      return std::nullopt;
  }
}

json::Object zeroMembers(const Schema& schema) {
  json::Object zero;
  for (const Field& field : schema.fields) {
    if (!field.isAlwaysThere && !field.required) continue;
    if (auto value = zeroValue(*field.schema)) zero[field.name] = std::move(*value);
  }
  return zero;
}

const Schema& schemaAt(const Schema& schema, const std::string& element) {
  return element.starts_with("f:") ? below(schema, std::string_view(element).substr(2))
                                   : itemsOf(schema);
}

FieldSet differing(const Schema& schema, const FieldSet& a, const FieldSet& b,
                   const json::Value* left, const json::Value* right) {
  FieldSet out;
  const bool leaf = a.isMember && b.isMember && a.children.empty();
  if (leaf && (!left || !right || !json::equal(*left, *right))) out.isMember = true;
  Below lefts(schema, left), rights(schema, right);
  for (const auto& [element, child] : a.children) {
    const FieldSet* other = b.child(element);
    if (!other) continue;
    FieldSet inner =
        differing(schemaAt(schema, element), child, *other, lefts.at(element), rights.at(element));
    if (!inner.empty()) out.children.emplace(element, std::move(inner));
  }
  return out;
}

json::Value mergedList(const Schema& schema, const json::Array& base, const json::Array& patch) {
  json::Array out = base;
  Elements known(schema, base);
  for (const json::Value& element : patch) {
    std::string name = elementOf(schema, element);
    const auto at = known.place(name);
    if (!at) {
      known.add(std::move(name), out.size());
      out.push_back(element);
    } else if (schema.listType == ListType::kMap) {
      out[*at] = mergedValue(itemsOf(schema), out[*at], element);
    }
  }
  return out;
}

void removeBelow(const Schema& schema, const FieldSet& set, const FieldSet* kept,
                 json::Value& value);

// One child: go on below it, then take it away itself when the set names it, or when nothing is
// left inside and nobody wants it empty.
bool removeChild(const Schema& inner, const FieldSet& set, const FieldSet* kept,
                 json::Value& value) {
  removeBelow(inner, set, kept, value);
  const bool hollow = (value.is_object() && value.get_object().empty()) ||
                      (value.is_array() && value.get_array().empty());
  return set.isMember || (hollow && !kept && !set.children.empty());
}

void removeMembers(const Schema& schema, const FieldSet& set, const FieldSet* kept,
                   json::Object& object) {
  for (const auto& [element, child] : set.children) {
    if (!element.starts_with("f:")) continue;
    json::Value* member = object.if_contains(element.substr(2));
    const FieldSet* wanted = kept ? kept->child(element) : nullptr;
    if (member && removeChild(schemaAt(schema, element), child, wanted, *member))
      object.erase(element.substr(2));
  }
}

void removeElements(const Schema& schema, const FieldSet& set, const FieldSet* kept,
                    json::Array& array) {
  Elements known(schema, array);
  std::vector<bool> goes(array.size());
  for (const auto& [element, child] : set.children) {
    const auto at = known.place(element);
    const FieldSet* wanted = kept ? kept->child(element) : nullptr;
    if (at) goes[*at] = removeChild(itemsOf(schema), child, wanted, array[*at]);
  }
  size_t left = 0;
  for (size_t i = 0; i < goes.size(); ++i)
    if (!goes[i] && left++ != i) array[left - 1] = std::move(array[i]);
  array.resize(left);
}

void removeBelow(const Schema& schema, const FieldSet& set, const FieldSet* kept,
                 json::Value& value) {
  if (value.is_object()) removeMembers(schema, set, kept, value.get_object());
  if (value.is_array() && schema.isArray()) removeElements(schema, set, kept, value.get_array());
}

}  // namespace

FieldSet fieldsOf(const Schema& schema, const json::Object& object) {
  FieldSet set;
  object.empty() ? void(set.isMember = true) : collectMembers(schema, object, set);
  dropServerFields(set);
  return set;
}

FieldSet withEveryNode(FieldSet set) {
  nameEveryNode(set);
  return set;
}

FieldSet nodesOf(const Schema& schema, const json::Object& object) {
  return withEveryNode(fieldsOf(schema, object));
}

FieldSet changedFields(const Schema& schema, const json::Object& old, const json::Object& now) {
  FieldSet set;
  changedMembers(schema, old, now, set);
  dropServerFields(set);
  return set;
}

FieldSet goneFields(const Schema& schema, const json::Object& old, const json::Object& now) {
  FieldSet set;
  goneMembers(schema, old, now, set);
  dropServerFields(set);
  return set;
}

const json::Object& zeroObject(const Schema& schema) {
  static const json::Object kNothing;
  if (!isBuiltIn(schema)) return kNothing;
  // Schemas of built-in kinds live for ever, and every create asks.
  thread_local std::unordered_map<const Schema*, json::Object> known;
  const auto at = known.find(&schema);
  return at != known.end() ? at->second : known.emplace(&schema, zeroMembers(schema)).first->second;
}

FieldSet differingIn(const Schema& schema, const FieldSet& a, const FieldSet& b,
                     const json::Object& left, const json::Object& right) {
  const json::Value l = left, r = right;
  return differing(schema, a, b, &l, &r);
}

json::Value mergedValue(const Schema& schema, const json::Value& base, const json::Value& patch) {
  if (isWalkedObject(schema, patch) && base.is_object()) {
    json::Object out = base.get_object();
    for (const auto& [name, member] : patch.get_object()) {
      const json::Value* before = out.if_contains(name);
      out[name] = before ? mergedValue(below(schema, name), *before, member) : member;
    }
    return out;
  }
  if (isWalkedList(schema, patch) && base.is_array())
    return mergedList(schema, base.get_array(), patch.get_array());
  return patch;
}

void removeFields(const Schema& schema, const FieldSet& set, const FieldSet& kept,
                  json::Object& object) {
  json::Value value = std::move(object);
  removeBelow(schema, set, &kept, value);
  object = std::move(value.get_object());
}

}  // namespace mangrove::apiserver
