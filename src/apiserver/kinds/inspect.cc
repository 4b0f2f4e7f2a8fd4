#include "apiserver/kinds/inspect.h"

#include <algorithm>

#include <fmt/core.h>

namespace mangrove::apiserver {

const json::Object& objectIn(const json::Object& object, std::string_view key) {
  static const json::Object kNone;
  const json::Value* value = object.if_contains(key);
  return value != nullptr && value->is_object() ? value->get_object() : kNone;
}

const json::Array& arrayIn(const json::Object& object, std::string_view key) {
  static const json::Array kNone;
  const json::Value* value = object.if_contains(key);
  return value != nullptr && value->is_array() ? value->get_array() : kNone;
}

std::string_view textIn(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string())
                                                : std::string_view();
}

bool sameMember(const json::Object& a, const json::Object& b, std::string_view key) {
  const json::Value* left = a.if_contains(key);
  const json::Value* right = b.if_contains(key);
  if (left == nullptr || right == nullptr) return left == right;
  return json::equal(*left, *right);
}

json::Object* mutableObject(json::Object& object, std::string_view key) {
  json::Value* value = object.if_contains(key);
  return value != nullptr ? value->if_object() : nullptr;
}

json::Array* mutableArray(json::Object& object, std::string_view key) {
  json::Value* value = object.if_contains(key);
  return value != nullptr ? value->if_array() : nullptr;
}

json::Object* ensureObject(json::Object& object, std::string_view key) {
  if (!object.contains(key)) object.emplace(key, json::Object());
  return mutableObject(object, key);
}

void setMissing(json::Object& object, std::string_view key, json::Value value) {
  if (!object.contains(key)) object.emplace(key, std::move(value));
}

const json::Value& Inspect::value(std::string_view key) const {
  static const json::Value kNull;
  const json::Value* found = find(key);
  return found != nullptr ? *found : kNull;
}

std::string_view Inspect::text(std::string_view key) const {
  return textIn(*object_, key);
}

std::optional<int64_t> Inspect::integer(std::string_view key) const {
  const json::Value* found = find(key);
  if (found == nullptr || !found->is_int64()) return std::nullopt;
  return found->get_int64();
}

bool Inspect::flag(std::string_view key) const {
  const json::Value* found = find(key);
  return found != nullptr && found->is_bool() && found->get_bool();
}

const json::Array& Inspect::array(std::string_view key) const {
  return arrayIn(*object_, key);
}

const json::Object& Inspect::map(std::string_view key) const {
  return objectIn(*object_, key);
}

void Inspect::required(std::string_view key, std::string_view why) const {
  errors_->required(at_.child(key), why);
}
void Inspect::invalid(std::string_view key, std::string_view why) const {
  errors_->invalid(at_.child(key), value(key), why);
}
void Inspect::forbidden(std::string_view key, std::string_view why) const {
  errors_->forbidden(at_.child(key), why);
}
void Inspect::notSupported(std::string_view key,
                           const std::vector<std::string_view>& supported) const {
  errors_->notSupported(at_.child(key), value(key), supported);
}
void Inspect::duplicate(std::string_view key) const {
  errors_->duplicate(at_.child(key), value(key));
}
void Inspect::notFound(std::string_view key) const {
  errors_->notFound(at_.child(key), value(key));
}

bool Inspect::wants(std::string_view key, std::string_view why) const {
  if (!text(key).empty()) return true;
  required(key, why);
  return false;
}

bool Inspect::wantsSome(std::string_view key, std::string_view why) const {
  const json::Value* found = find(key);
  bool isThere = found != nullptr && !found->is_null();
  if (isThere && found->is_array()) isThere = !found->get_array().empty();
  if (isThere && found->is_object()) isThere = !found->get_object().empty();
  if (!isThere) required(key, why);
  return isThere;
}

void Inspect::check(std::string_view key, const std::string& trouble) const {
  if (!trouble.empty()) invalid(key, trouble);
}

void Inspect::notNegative(std::string_view key) const {
  atLeast(key, 0);
}

void Inspect::atLeast(std::string_view key, int64_t least) const {
  if (auto number = integer(key); number && *number < least)
    invalid(key, fmt::format("must be greater than or equal to {}", least));
}

void Inspect::inRange(std::string_view key, int64_t least, int64_t most) const {
  if (auto number = integer(key); number && (*number < least || *number > most))
    invalid(key, fmt::format("must be between {} and {}, inclusive", least, most));
}

void Inspect::oneOf(std::string_view key, const std::vector<std::string_view>& supported) const {
  if (!has(key)) return;
  if (std::find(supported.begin(), supported.end(), text(key)) == supported.end())
    notSupported(key, supported);
}

void Inspect::immutable(std::string_view key, const json::Object& old) const {
  if (!sameMember(*object_, old, key)) invalid(key, "field is immutable");
}

}  // namespace mangrove::apiserver
