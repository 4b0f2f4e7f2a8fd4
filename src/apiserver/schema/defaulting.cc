#include "apiserver/schema/defaulting.h"

#include <algorithm>

namespace mangrove::apiserver {
namespace {

using json::Value;

Value zeroOf(const Schema& schema) {
  switch (schema.type) {
    case Type::kObject:
      return json::Object();
    case Type::kInteger:
    case Type::kNumber:
    case Type::kIntOrString:
      return 0;
    case Type::kBoolean:
      return false;
    case Type::kQuantity:
      return "0";
    default:
      return "";
  }
}

void defaultFields(const Schema& schema, json::Object& object) {
  for (const Field& field : schema.fields) {
    if (field.defaultValue == nullptr) {
      if (field.isAlwaysThere && !object.contains(field.name))
        object.emplace(field.name, zeroOf(*field.schema));
      continue;
    }
    Value* present = object.if_contains(field.name);
    if (present == nullptr)
      object.emplace(field.name, *field.defaultValue);
    else if (present->is_null() && !field.schema->nullable)
      *present = *field.defaultValue;
  }
}

bool lacksField(const Field& field, json::View object) {
  if (field.defaultValue == nullptr) return false;
  const json::View present = object[field.name];
  return !present.exists() || (present.isNull() && !field.schema->nullable);
}

bool lacksElement(const Schema& schema, const Schema& inside, json::View element) {
  return element.isNull() && !inside.nullable && schema.elementDefault != nullptr;
}

void defaultNullElement(const Schema& schema, const Schema& inside, Value& element) {
  if (element.is_null() && !inside.nullable && schema.elementDefault != nullptr)
    element = *schema.elementDefault;
}

}  // namespace

void applyDefaults(const Schema& schema, Value& value) {
  if (value.is_object() && schema.isObject()) {
    defaultFields(schema, value.get_object());
    for (auto& member : value.get_object()) {
      const Schema* inside = schema.member(member.key());
      if (inside == nullptr) continue;
      if (inside == schema.values) defaultNullElement(schema, *inside, member.value());
      applyDefaults(*inside, member.value());
    }
  }
  if (value.is_array() && schema.items != nullptr) {
    for (Value& element : value.get_array()) {
      defaultNullElement(schema, *schema.items, element);
      applyDefaults(*schema.items, element);
    }
  }
}

bool hasDefaults(const Schema& schema) {
  if (schema.elementDefault != nullptr) return true;
  if (schema.values != nullptr && hasDefaults(*schema.values)) return true;
  if (schema.items != nullptr && hasDefaults(*schema.items)) return true;
  return std::any_of(schema.fields.begin(), schema.fields.end(), [](const Field& field) {
    return field.defaultValue != nullptr || hasDefaults(*field.schema);
  });
}

bool lacksDefaults(const Schema& schema, json::View value) {
  if (value.isObject() && schema.isObject()) {
    for (const Field& field : schema.fields)
      if (lacksField(field, value)) return true;
    for (const auto [key, member] : value.members()) {
      const Schema* inside = schema.member(key);
      if (inside == nullptr) continue;
      if (inside == schema.values && lacksElement(schema, *inside, member)) return true;
      if (lacksDefaults(*inside, member)) return true;
    }
  }
  if (schema.items == nullptr) return false;
  for (const json::View element : value.elements())
    if (lacksElement(schema, *schema.items, element) || lacksDefaults(*schema.items, element))
      return true;
  return false;
}

void dropForbiddenNulls(const Schema& schema, Value& value) {
  if (value.is_array() && schema.items != nullptr)
    for (Value& element : value.get_array()) dropForbiddenNulls(*schema.items, element);
  if (!value.is_object()) return;
  json::Object& object = value.get_object();
  for (auto it = object.begin(); it != object.end();) {
    const Schema* inside = schema.member(it->key());
    if (inside != nullptr) dropForbiddenNulls(*inside, it->value());
    bool goes = inside != nullptr && it->value().is_null() && !inside->nullable &&
                inside->type != Type::kAny;
    it = goes ? object.stable_erase(it) : std::next(it);
  }
}

void applyDefaults(const KindInfo& kind, Value& object) {
  if (!object.is_object()) return;
  if (kind.isCustom) dropForbiddenNulls(*kind.schema, object);
  // Computed defaults may rely on a spec being there.
  for (const Field& field : kind.schema->fields)
    if (field.isAlwaysThere && field.schema->isObject() &&
        !object.get_object().contains(field.name))
      object.get_object().emplace(field.name, json::Object());
  if (kind.rules.defaults != nullptr) kind.rules.defaults(object.get_object());
  applyDefaults(*kind.schema, object);
}

}  // namespace mangrove::apiserver
