#include "apiserver/schema/crd_structural.h"

#include <algorithm>

#include <fmt/core.h>

namespace mangrove::apiserver {
namespace {

const std::vector<std::string_view> kTypes = {"array",  "boolean", "integer",
                                              "number", "object",  "string"};

// JSON schema words that cannot be enforced field by field.
constexpr std::string_view kForbidden[] = {"$ref",    "definitions",       "dependencies",   "id",
                                           "$schema", "patternProperties", "additionalItems"};

bool isIntOrString(const Inspect& node) {
  return node.flag("x-kubernetes-int-or-string");
}

void checkType(const Inspect& node) {
  std::string_view type = node.text("type");
  bool isOpen = isIntOrString(node) || node.flag("x-kubernetes-preserve-unknown-fields");
  if (type.empty()) {
    if (!isOpen) node.required("type", "must not be empty for specified object fields");
    return;
  }
  if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end())
    return node.notSupported("type", kTypes);
  if (type == "array" && !node.has("items")) node.required("items", "must be specified");
  if (node.has("items") && type != "array")
    node.invalid("type", "must be array if items is specified");
}

void checkMembers(const Inspect& node) {
  const json::Value* more = node.find("additionalProperties");
  if (more != nullptr && !node.map("properties").empty())
    node.forbidden("additionalProperties", "is mutually exclusive with properties");
  if (more != nullptr && *more == json::Value(false))
    node.forbidden("additionalProperties", "must not be false; unknown fields are pruned anyway");
  if (node.flag("uniqueItems"))
    node.forbidden("uniqueItems", "is expensive; use x-kubernetes-list-type: set");
  for (std::string_view word : kForbidden)
    if (node.has(word)) node.forbidden(word, "is not supported in structural schemas");
  const json::Value* preserve = node.find("x-kubernetes-preserve-unknown-fields");
  if (preserve != nullptr && *preserve != json::Value(true))
    node.invalid("x-kubernetes-preserve-unknown-fields", "must be true or undefined");
}

void checkEmbedded(const Inspect& node) {
  if (!node.flag("x-kubernetes-embedded-resource")) return;
  if (node.text("type") != "object")
    node.invalid("type", "must be object if x-kubernetes-embedded-resource is true");
  if (node.map("properties").empty() && !node.flag("x-kubernetes-preserve-unknown-fields"))
    node.required("properties",
                  "must not be empty if x-kubernetes-embedded-resource is true without "
                  "x-kubernetes-preserve-unknown-fields");
}

// A key must be there in every element, or be filled in by a default.
void checkListKey(const Inspect& node, const Inspect& items, const json::Value& key,
                  const FieldPath& at) {
  std::string_view name = key.is_string() ? std::string_view(key.get_string()) : "";
  const json::Value* property = items.map("properties").if_contains(name);
  if (property == nullptr || !property->is_object())
    return node.errors().invalid(at, key, "must name a property of the items");
  const json::Array& required = items.array("required");
  bool isRequired = std::find(required.begin(), required.end(), key) != required.end();
  if (!isRequired && !property->get_object().contains("default"))
    node.errors().required(at, fmt::format("key '{}' must be required in the items or have a "
                                           "default",
                                           name));
  std::string_view type = textIn(property->get_object(), "type");
  if (type == "object" || type == "array") node.errors().invalid(at, key, "must be a scalar");
}

void checkListType(const Inspect& node) {
  constexpr std::string_view kKey = "x-kubernetes-list-type";
  constexpr std::string_view kKeys = "x-kubernetes-list-map-keys";
  std::string_view list = node.text(kKey);
  if (!node.has(kKey)) {
    if (node.has(kKeys)) node.forbidden(kKeys, "needs x-kubernetes-list-type: map");
    return;
  }
  node.oneOf(kKey, {"atomic", "map", "set"});
  if (node.text("type") != "array")
    node.invalid("type", "must be array if x-kubernetes-list-type is specified");
  Inspect items = node.child("items");
  std::string_view itemType = items.text("type");
  if (list == "set" && (itemType == "object" || itemType == "array") &&
      items.text("x-kubernetes-map-type") != "atomic" && items.text(kKey) != "atomic")
    node.invalid(kKey, "set needs scalar items, or items that are atomic");
  if (list != "map") return;
  if (itemType != "object") items.invalid("type", "must be object for x-kubernetes-list-type: map");
  if (!node.wantsSome(kKeys, "must not be empty for x-kubernetes-list-type: map")) return;
  node.eachValue(kKeys, [&](const json::Value& key, const FieldPath& at) {
    checkListKey(node, items, key, at);
  });
}

void checkMapType(const Inspect& node) {
  node.oneOf("x-kubernetes-map-type", {"atomic", "granular"});
  if (node.has("x-kubernetes-map-type") && node.text("type") != "object")
    node.invalid("type", "must be object if x-kubernetes-map-type is specified");
}

// Logic may only speak of fields that the plain part declares.
void checkMentioned(const Inspect& plain, const Inspect& logic) {
  FieldPath list = plain.at().child("properties");
  for (const auto& entry : logic.map("properties")) {
    const json::Value* declared = plain.map("properties").if_contains(entry.key());
    FieldPath here = list.key(entry.key());
    if (declared == nullptr || !declared->is_object()) {
      // Values of a map are declared by its additionalProperties.
      if (!plain.has("additionalProperties") && !plain.flag("x-kubernetes-preserve-unknown-fields"))
        plain.errors().required(here, "because it is defined in " + logic.at().text());
      continue;
    }
    if (!entry.value().is_object()) continue;
    FieldPath logicList = logic.at().child("properties");
    FieldPath logicHere = logicList.key(entry.key());
    checkMentioned(Inspect(declared->get_object(), here, plain.errors()),
                   Inspect(entry.value().get_object(), logicHere, plain.errors()));
  }
  if (logic.has("items") && plain.has("items")) {
    Inspect plainItems = plain.child("items"), logicItems = logic.child("items");
    checkMentioned(plainItems, logicItems);
  }
}

}  // namespace

void checkRoot(const Inspect& root) {
  if (!root.text("type").empty() && root.text("type") != "object")
    root.invalid("type", "must be object at the root");
  if (root.flag("nullable")) root.forbidden("nullable", "nullable cannot be true at the root");
  if (root.has("default")) root.forbidden("default", "must not be set at the root");
  Inspect properties = root.child("properties");
  if (!properties.has("metadata")) return;
  Inspect meta = properties.child("metadata");
  FieldPath at = properties.at().key("metadata");
  for (const auto& entry : meta.map("properties"))
    if (entry.key() != "name" && entry.key() != "generateName")
      root.errors().forbidden(at,
                              "must not specify anything other than name and generateName, but "
                              "metadata is implicitly specified");
}

void checkStructure(const Inspect& node) {
  checkType(node);
  checkMembers(node);
  checkEmbedded(node);
  checkListType(node);
  checkMapType(node);
  for (std::string_view key : {"allOf", "anyOf", "oneOf"})
    node.each(key, [&](const Inspect& logic) { checkMentioned(node, logic); });
  if (node.has("not")) {
    Inspect logic = node.child("not");
    checkMentioned(node, logic);
  }
}

void checkLogic(const Inspect& node) {
  for (std::string_view key :
       {"additionalProperties", "default", "description", "nullable",
        "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
        "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"})
    if (node.has(key)) node.forbidden(key, "must be undefined to be structural");
  std::string_view type = node.text("type");
  // anyOf: [{type: integer}, {type: string}] is how int-or-string is written for other readers.
  bool isIdiom = (type == "integer" || type == "string") && node.object().size() == 1;
  if (!type.empty() && !isIdiom) node.forbidden("type", "must be empty to be structural");
}

}  // namespace mangrove::apiserver
