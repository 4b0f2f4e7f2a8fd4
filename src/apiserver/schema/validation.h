#pragma once
// Whether a value is what its schema says, field by field, in the words Kubernetes users know.
//
//   FieldErrors errors;
//   validate(*kind.schema, object, FieldPath(), errors);
//   // spec.mode: Unsupported value: "x": supported values: "a", "b"
//
// Custom kinds: types, required fields, bounds, patterns, formats, lists that are sets or maps,
// allOf/anyOf/oneOf/not. Built-in kinds: decode() has settled the types, so only enumerations are
// left here, and the rules of the kind (kinds/rules.h) do the rest. Pure; any thread.

#include "apiserver/schema/field_error.h"
#include "apiserver/schema/field_path.h"
#include "apiserver/schema/schema.h"
#include "json/value.h"

namespace mangrove::apiserver {

// For custom schemas: everything.
void validate(const Schema& schema, const json::Value& value, const FieldPath& at,
              FieldErrors& errors);
// For built-in schemas: enumerations; "status" of the root is left out, because components write
// there what they find.
void validateEnums(const Schema& schema, const json::Value& value, const FieldPath& at,
                   FieldErrors& errors);

}  // namespace mangrove::apiserver
