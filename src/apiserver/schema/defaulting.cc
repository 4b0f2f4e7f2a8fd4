#include "apiserver/schema/defaulting.h"

namespace mangrove::apiserver {
namespace {

using json::Value;

void defaultFields(const Schema& schema, json::Object& object) {
  for (const Field& field : schema.fields) {
    if (field.defaultValue == nullptr) continue;
    Value* present = object.if_contains(field.name);
    if (present == nullptr)
      object.emplace(field.name, *field.defaultValue);
    else if (present->is_null() && !field.schema->nullable)
      *present = *field.defaultValue;
  }
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
  const Field* spec = kind.isCustom ? nullptr : kind.schema->field("spec");
  // Typed clients expect a spec, be it empty.
  if (spec != nullptr && spec->schema->isObject() && !object.get_object().contains("spec"))
    object.get_object()["spec"] = json::Object();
  if (kind.rules.defaults != nullptr) kind.rules.defaults(object.get_object());
  applyDefaults(*kind.schema, object);
}

}  // namespace mangrove::apiserver
