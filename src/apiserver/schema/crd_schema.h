#pragma once
// From the openAPIV3Schema of a CustomResourceDefinition to a Schema, checking on the way that it
// is structural: every field has a type, logic (allOf, anyOf, oneOf, not) only restricts what the
// plain part declares, defaults are valid, and nothing we could not enforce is asked for.
//
//   auto set = SchemaSet::make();
//   FieldErrors errors;
//   CompiledSchema compiled = compileSchema(schemaJson, at, *set, errors);
//   set->finish();
//   if (errors.empty()) use(set->ref(compiled.root));
//
// Pure; any thread.

#include <string>
#include <vector>

#include "apiserver/schema/field_error.h"
#include "apiserver/schema/schema.h"
#include "json/value.h"

namespace mangrove::apiserver {

struct CompiledSchema {
  Schema* root = nullptr;
  // For the author of the definition: what is accepted but has no effect here.
  std::vector<std::string> warnings;
};

// The root gets apiVersion, kind and metadata, whatever the author says about them. `source` is
// copied where needed.
CompiledSchema compileSchema(const json::Object& source, const FieldPath& at, SchemaSet& set,
                             FieldErrors& errors);
// After set.finish(): every default must be valid by itself and hold no unknown field.
void validateDefaults(const Schema& root, const FieldPath& at, FieldErrors& errors);

}  // namespace mangrove::apiserver
