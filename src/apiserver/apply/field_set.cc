#include "apiserver/apply/field_set.h"

#include <fmt/core.h>

namespace mangrove::apiserver {

namespace {

bool isElement(std::string_view key) {
  return key.starts_with("f:") || key.starts_with("k:") || key.starts_with("v:") ||
         key.starts_with("i:");
}

}  // namespace

FieldSet FieldSet::parse(const json::Value& fields) {
  FieldSet set;
  if (!fields.is_object()) return set;
  for (const auto& [key, below] : fields.get_object()) {
    if (key == ".") {
      set.isMember = true;
    } else if (isElement(key)) {
      FieldSet child = parse(below);
      const bool leaf = below.is_object() && below.get_object().empty();
      if (leaf) child.isMember = true;
      if (!child.empty()) set.children.emplace(std::string_view(key), std::move(child));
    }
  }
  return set;
}

json::Object FieldSet::toJson(const json::Storage& storage) const {
  json::Object out(storage);
  out.reserve(children.size() + 1);
  if (isMember && !children.empty()) out.emplace(".", json::Object(storage));
  for (const auto& [element, child] : children) out.emplace(element, child.toJson(storage));
  return out;
}

const FieldSet* FieldSet::child(std::string_view element) const {
  auto at = children.find(element);
  return at == children.end() ? nullptr : &at->second;
}

void FieldSet::add(const FieldSet& other) {
  isMember = isMember || other.isMember;
  for (const auto& [element, below] : other.children) children[element].add(below);
}

void FieldSet::subtract(const FieldSet& other) {
  if (other.isMember) isMember = false;
  for (const auto& [element, below] : other.children) {
    auto at = children.find(element);
    if (at == children.end()) continue;
    at->second.subtract(below);
    if (at->second.empty()) children.erase(at);
  }
}

FieldSet FieldSet::minus(const FieldSet& other) const {
  FieldSet rest = *this;
  rest.subtract(other);
  return rest;
}

std::string elementText(std::string_view element) {
  const std::string_view body = element.substr(2);
  if (element.starts_with("f:")) return fmt::format(".{}", body);
  if (!element.starts_with("k:")) return fmt::format("[{}]", body);
  auto keys = json::parse(body);
  if (!keys || !keys->is_object()) return fmt::format("[{}]", body);
  std::string text;
  for (const auto& [key, value] : keys->get_object()) {
    text +=
        fmt::format("{}{}={}", text.empty() ? "" : ",", std::string_view(key), json::write(value));
  }
  return "[" + text + "]";
}

}  // namespace mangrove::apiserver
