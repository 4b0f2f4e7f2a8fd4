#include "apiserver/kinds/object_rules.h"

#include "apiserver/kinds/object_meta.h"
#include "apiserver/schema/defaulting.h"
#include "apiserver/schema/validation.h"
#include "base/check.h"

namespace mangrove::apiserver {
namespace {

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
  if (!kind.isCustom) applyDefaults(*kind.schema, object);  // a status with its zeros
}

void onUpdate(const KindInfo& kind, json::Value& now, const json::Value& old) {
  CHECK(now.is_object() && old.is_object(), "{}", kind.kind);
  if (kind.rules.onUpdate != nullptr) kind.rules.onUpdate(now.get_object(), old.get_object());
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
