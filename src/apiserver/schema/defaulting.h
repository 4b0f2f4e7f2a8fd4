#pragma once
// Fills in what the author left out: the static defaults of the tables and of custom schemas, and
// for built-in kinds the computed ones (a pull policy that depends on the tag, requests that follow
// limits).
//
//   applyDefaults(*kind, object);
//
// Applying twice changes nothing more. Never fails: values of a wrong type are left for validation.
// Pure; any thread.

#include "apiserver/kinds/catalogue.h"
#include "apiserver/schema/schema.h"
#include "json/value.h"
#include "json/view.h"

namespace mangrove::apiserver {

// Computed, then static. Custom kinds: nulls where null is not allowed go first.
void applyDefaults(const KindInfo& kind, json::Value& object);
// Static ones only.
void applyDefaults(const Schema& schema, json::Value& value);

// Whether the schema has a default anywhere (custom kinds, which have no circles).
bool hasDefaults(const Schema& schema);
// Whether an object as it is stored lacks one of them: the definition may have got it afterwards.
bool lacksDefaults(const Schema& schema, json::View value);

// Members that are null although their schema does not allow it (custom kinds).
void dropForbiddenNulls(const Schema& schema, json::Value& value);

}  // namespace mangrove::apiserver
