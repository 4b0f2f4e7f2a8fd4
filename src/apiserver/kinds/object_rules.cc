#include "apiserver/kinds/object_rules.h"

#include "apiserver/kinds/object_meta.h"
#include "apiserver/schema/validation.h"
#include "base/check.h"

namespace mangrove::apiserver {
namespace {

json::Value zeroOf(const Schema& schema) {
  switch (schema.type) {
    case Type::kInteger:
    case Type::kNumber:
      return 0;
    case Type::kBoolean:
      return false;
    case Type::kString:
      return "";
    default:
      return nullptr;
  }
}

// The status of an object nobody has reported on yet: numbers that are always there are 0. Clients
// in typed languages refuse an answer without them.
json::Object emptyStatus(const Schema& status) {
  json::Object out;
  for (const Field& field : status.fields)
    if (json::Value zero = zeroOf(*field.schema); field.required && !zero.is_null())
      out[field.name] = std::move(zero);
  return out;
}

void checkAll(const KindInfo& kind, const json::Value& object, FieldErrors& errors) {
  validateMeta(kind, object.get_object(), errors);
  if (kind.isCustom)
    validate(*kind.schema, object, FieldPath(), errors);
  else
    validateEnums(*kind.schema, object, FieldPath(), errors);
  if (kind.rules.validate != nullptr) kind.rules.validate(object.get_object(), errors);
}

}  // namespace

void onCreate(const KindInfo& kind, json::Value& object) {
  CHECK(object.is_object(), "{}", kind.kind);
  if (kind.hasStatus() && !kind.rules.keepsStatus) object.get_object().stable_erase("status");
  if (kind.rules.onCreate != nullptr) kind.rules.onCreate(object.get_object());
  const Field* status = kind.isCustom ? nullptr : kind.schema->field("status");
  if (status != nullptr && status->schema->isObject() && !object.get_object().contains("status"))
    object.get_object()["status"] = emptyStatus(*status->schema);
}

FieldErrors validateCreate(const KindInfo& kind, const json::Value& object) {
  CHECK(object.is_object(), "{}", kind.kind);
  FieldErrors errors;
  checkAll(kind, object, errors);
  return errors;
}

FieldErrors validateUpdate(const KindInfo& kind, const json::Value& now, const json::Value& old) {
  CHECK(now.is_object() && old.is_object(), "{}", kind.kind);
  FieldErrors errors;
  validateMetaUpdate(now.get_object(), old.get_object(), errors);
  checkAll(kind, now, errors);
  if (kind.rules.validateUpdate != nullptr)
    kind.rules.validateUpdate(now.get_object(), old.get_object(), errors);
  return errors;
}

FieldErrors validateStatusUpdate(const KindInfo& kind, const json::Value& now,
                                 const json::Value& old) {
  CHECK(now.is_object() && old.is_object(), "{}", kind.kind);
  FieldErrors errors;
  validateMetaUpdate(now.get_object(), old.get_object(), errors);
  validateMeta(kind, now.get_object(), errors);
  if (kind.isCustom) validate(*kind.schema, now, FieldPath(), errors);
  if (kind.rules.validateStatus != nullptr)
    kind.rules.validateStatus(now.get_object(), old.get_object(), errors);
  return errors;
}

}  // namespace mangrove::apiserver
