#pragma once
// Lists of texts in objects, and tables that are looked up by text without copying it. Pure; any
// thread.
//
//   std::vector<std::string> verbs = textsAt(rule, "verbs");
//   rule["verbs"] = arrayOf(verbs);
//   ByText<int> counts; counts.find(std::string_view("x"));

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apiserver/core/object.h"
#include "json/value.h"

namespace mangrove::apiserver {

// What is no list reads as none, what is no text is left out.
inline std::vector<std::string> textsAt(const json::Object& parent, std::string_view key) {
  std::vector<std::string> out;
  const json::Array* list = findArray(parent, key);
  for (size_t i = 0; list && i < list->size(); ++i) {
    if ((*list)[i].is_string()) out.emplace_back(std::string_view((*list)[i].get_string()));
  }
  return out;
}

inline json::Array arrayOf(const std::vector<std::string>& texts) {
  return json::Array(texts.begin(), texts.end());
}

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <class T>
using ByText = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

}  // namespace mangrove::apiserver
