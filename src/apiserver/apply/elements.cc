#include "apiserver/apply/elements.h"

#include <unordered_set>
#include <utility>

namespace mangrove::apiserver {

namespace {

// k:{"containerPort":80,"protocol":"TCP"}; a key the element leaves out takes its default, or is
// left out.
std::string keyElement(const Schema& list, const json::Value& element) {
  json::Object keys;
  for (std::string_view key : list.listKeys) {
    const json::Value* value =
        element.is_object() ? element.get_object().if_contains(key) : nullptr;
    const Field* field = itemsOf(list).field(key);
    if (!value && field) value = field->defaultValue;
    if (value) keys[key] = *value;
  }
  return "k:" + json::writeSorted(keys);
}

std::string setElement(const json::Value& element) {
  return "v:" + json::writeSorted(element);
}

std::string doubledBelow(const Schema& schema, const json::Value& value, const std::string& path);

std::string doubledMember(const Schema& schema, const json::Object& object,
                          const std::string& path) {
  for (const auto& [name, member] : object) {
    const Schema* known = schema.isObject() ? schema.member(name) : nullptr;
    std::string found =
        doubledBelow(known ? *known : anySchema(), member, path + "." + std::string(name));
    if (!found.empty()) return found;
  }
  return "";
}

std::string doubledBelow(const Schema& schema, const json::Value& value, const std::string& path) {
  if (value.is_object() && !schema.atomicMap)
    return doubledMember(schema, value.get_object(), path);
  const bool isList = value.is_array() && schema.isArray();
  const bool keyed = isList && schema.listType == ListType::kMap;
  if (!keyed && !(isList && schema.listType == ListType::kSet)) return "";
  std::unordered_set<std::string> seen;
  for (const json::Value& element : value.get_array()) {
    const std::string name = elementOf(schema, element).substr(2);
    if (!seen.insert(name).second) return path + ": duplicate entries for key " + name;
    std::string found =
        keyed ? doubledBelow(itemsOf(schema), element, path + "[" + name + "]") : std::string();
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace

const Schema& anySchema() {
  static const Schema kAny;
  return kAny;
}

const Schema& itemsOf(const Schema& list) {
  return list.items ? *list.items : anySchema();
}

std::string elementOf(const Schema& list, const json::Value& element) {
  return list.listType == ListType::kMap ? keyElement(list, element) : setElement(element);
}

std::string doubledElement(const Schema& schema, const json::Object& object) {
  return doubledMember(schema, object, "");
}

std::optional<size_t> Elements::place(const std::string& name) {
  if (!std::exchange(known_, true))
    for (size_t i = 0; i < array_.size(); ++i) add(elementOf(list_, array_[i]), i);
  const auto at = places_.find(name);
  return at == places_.end() ? std::nullopt : std::optional(at->second);
}

const json::Value* Elements::find(const std::string& name) {
  const auto at = place(name);
  return at ? &array_[*at] : nullptr;
}

void Elements::add(std::string name, size_t place) {
  places_.emplace(std::move(name), place);
}

Below::Below(const Schema& schema, const json::Value* parent)
    : object_(parent ? parent->if_object() : nullptr) {
  if (parent && parent->is_array() && schema.isArray()) list_.emplace(schema, parent->get_array());
}

const json::Value* Below::at(const std::string& element) {
  if (!element.starts_with("f:")) return list_ ? list_->find(element) : nullptr;
  return object_ ? object_->if_contains(element.substr(2)) : nullptr;
}

}  // namespace mangrove::apiserver
