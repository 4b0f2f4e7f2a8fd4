#pragma once
// The rules a CustomResourceDefinition itself must keep: names that fit together, exactly one
// stored version, structural schemas, columns and paths that can be read. Pure; any thread.

#include "apiserver/schema/field_error.h"
#include "json/value.h"

namespace mangrove::apiserver {

void validateCrd(const json::Object& crd, FieldErrors& errors);
void validateCrdUpdate(const json::Object& now, const json::Object& old, FieldErrors& errors);

}  // namespace mangrove::apiserver
