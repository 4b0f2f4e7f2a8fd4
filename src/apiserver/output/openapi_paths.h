#pragma once
// The paths of a group-version in OpenAPI: which verbs each resource has, what they take and
// answer. kubectl finds kinds by them, and whether dryRun, fieldValidation and strategic patches
// are understood. Pure; any thread.

#include "apiserver/output/groups.h"
#include "apiserver/output/openapi_schema.h"
#include "json/value.h"

namespace mangrove::apiserver {

// Adds the paths of all resources to `paths`, and the definitions they mention to `definitions`.
void addPaths(const GroupVersion& version, OpenApi form, DefinitionWriter& definitions,
              json::Object& paths);

}  // namespace mangrove::apiserver
