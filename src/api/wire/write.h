#pragma once
// How typed structs become JSON, the other half of decode.h: `json::Value toJson(const T&)` for
// every type our components write. Unset members are left out, maps are sorted by key, quantities
// are canonical texts.
//
//   json::Object status;
//   put(status, "allocatable", reservation.allocatable);          // left out when empty
//   std::string text = writeLikeGo(status);                       // for annotations
//
// Pure functions, any thread.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/object/condition.h"
#include "api/object/meta.h"
#include "api/pod/affinity.h"
#include "api/pod/resource_list.h"
#include "api/select/label_selector.h"
#include "api/wire/decode.h"
#include "json/value.h"

namespace mangrove::api {

// ---- values ----------------------------------------------------------------------------------

template <class T>
  requires std::is_arithmetic_v<T>
json::Value toJson(T value) {
  return value;
}
template <class Tag>
json::Value toJson(Amount<Tag> value) {
  return value.v;
}
json::Value toJson(std::string_view value);
inline json::Value toJson(const std::string& value) {
  return toJson(std::string_view(value));
}
inline json::Value toJson(Interned value) {
  return toJson(value.view());
}
inline json::Value toJson(const Text& value) {
  return toJson(value.view());
}
inline json::Value toJson(const Uid& value) {
  return toJson(std::string_view(value.str()));
}
json::Value toJson(const Quantity& value);
json::Value toJson(WallTime value);  // null for kZeroTime
json::Value toJson(Duration value);
json::Value toJson(const IntOrString& value);
json::Value toJson(const RawJson& value);  // null when the text is no JSON
inline json::Value toJson(const ResourceList& value) {
  return value.toJson();
}
json::Value toJson(const Labels& value);
json::Value toJson(const Annotations& value);

json::Value toJson(const Expression& value);
json::Value toJson(const LabelSelector& value);
json::Value toJson(const NodeSelectorTerm& value);
json::Value toJson(const Taint& value);
json::Value toJson(const Toleration& value);
json::Value toJson(const OwnerReference& value);
json::Value toJson(const ObjectRef& value);
json::Value toJson(const Condition& value);

template <class T>
json::Value toJson(const std::vector<T>& values);
template <class T>
json::Value toJson(const std::optional<T>& value);
template <class T>
json::Value toJson(const std::map<std::string, T>& values);

template <class T>
json::Value toJson(const std::vector<T>& values) {
  json::Array out;
  out.reserve(values.size());
  for (const T& value : values) out.push_back(toJson(value));
  return out;
}

template <class T>
json::Value toJson(const std::optional<T>& value) {
  return value ? toJson(*value) : json::Value();
}

template <class T>
json::Value toJson(const std::map<std::string, T>& values) {
  json::Object out;
  for (const auto& [key, value] : values) out[key] = toJson(value);
  return out;
}

// ---- members ---------------------------------------------------------------------------------

// Go's omitempty: false, 0, "", no entries, nothing set. A struct is never unset, not even an empty
// one; wrap it in an optional where the reference has a pointer.
template <class T>
bool isUnset(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return value == T{};
  } else if constexpr (requires { value.has_value(); }) {
    return !value.has_value();
  } else if constexpr (std::is_same_v<T, WallTime>) {
    return value == kZeroTime;
  } else if constexpr (std::is_same_v<T, RawJson>) {
    return value.text.empty();
  } else if constexpr (std::is_same_v<T, LabelSelector>) {
    return false;
  } else if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else {
    return false;
  }
}

template <class T>
void put(json::Object& out, std::string_view key, const T& value) {
  if (!isUnset(value)) out[key] = toJson(value);
}
template <class T>
void putAlways(json::Object& out, std::string_view key, const T& value) {
  out[key] = toJson(value);
}

// Compact text in which <, > and & are escaped, as Go's encoder does: annotations are compared as
// text.
std::string writeLikeGo(const json::Value& value);

}  // namespace mangrove::api
