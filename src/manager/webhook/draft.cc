#include "manager/webhook/draft.h"

#include <string>

namespace mangrove::manager {

// Looks before it inserts: Boost's operator[] makes room for a new member, and so moves all others,
// even when the key is there.
json::Object& objectIn(json::Object& parent, std::string_view key) {
  json::Value* member = parent.if_contains(key);
  if (member == nullptr) member = &parent.emplace(key, json::Object()).first->value();
  return member->is_object() ? member->get_object() : member->emplace_object();
}

json::Object* findObject(json::Object& parent, std::string_view key) {
  json::Value* member = parent.if_contains(key);
  return member == nullptr ? nullptr : member->if_object();
}

const json::Object* findObject(const json::Object& parent, std::string_view key) {
  const json::Value* member = parent.if_contains(key);
  return member == nullptr ? nullptr : member->if_object();
}

json::Array* findArray(json::Object& parent, std::string_view key) {
  json::Value* member = parent.if_contains(key);
  return member == nullptr ? nullptr : member->if_array();
}

const json::Array* findArray(const json::Object& parent, std::string_view key) {
  const json::Value* member = parent.if_contains(key);
  return member == nullptr ? nullptr : member->if_array();
}

json::Object& metadataOf(json::Object& object) {
  return objectIn(object, "metadata");
}

std::optional<std::string_view> textIn(const json::Object& parent, std::string_view key) {
  const json::Value* member = parent.if_contains(key);
  if (member == nullptr || !member->is_string()) return std::nullopt;
  return std::string_view(member->get_string());
}

void setText(json::Object& parent, std::string_view key, std::string_view value) {
  parent.insert_or_assign(key, value);
}

static std::optional<std::string_view> textBelow(const json::Object& object, std::string_view map,
                                                 std::string_view key) {
  const json::Object* metadata = findObject(object, "metadata");
  const json::Object* entries = metadata ? findObject(*metadata, map) : nullptr;
  return entries ? textIn(*entries, key) : std::nullopt;
}

std::optional<std::string_view> labelOf(const json::Object& object, std::string_view key) {
  return textBelow(object, "labels", key);
}

std::optional<std::string_view> annotationOf(const json::Object& object, std::string_view key) {
  return textBelow(object, "annotations", key);
}

std::optional<Quantity> amountIn(const json::Object& list, std::string_view name) {
  const json::Value* member = list.if_contains(name);
  if (member == nullptr || member->is_null()) return std::nullopt;
  auto amount = member->is_string() ? Quantity::parseJson(member->get_string())
                                    : Quantity::parseJson(json::write(*member));
  if (!amount) return std::nullopt;
  return *amount;
}

void setAmount(json::Object& list, std::string_view name, const Quantity& amount) {
  setText(list, name, amount.text());
}

json::Object& requestsOf(json::Object& container) {
  return objectIn(objectIn(container, "resources"), "requests");
}

json::Object& limitsOf(json::Object& container) {
  return objectIn(objectIn(container, "resources"), "limits");
}

}  // namespace mangrove::manager
