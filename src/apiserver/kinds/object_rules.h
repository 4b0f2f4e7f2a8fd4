#pragma once
// Everything a write must pass, in one place, for built-in and custom kinds alike.
//
//   auto decoded = decode(kind, object);            // schema/decoding.h: 400, unknown fields
//   applyDefaults(kind, object);                    // schema/defaulting.h
//   onCreate(kind, object);                         // create only, after name and uid are set
//   FieldErrors errors = validateCreate(kind, object);
//   if (!errors.empty()) return answer::unprocessable(kind, name, errors);
//
// Objects that are no JSON object at all never get here: decode() refuses them. Pure; any thread.

#include "apiserver/kinds/catalogue.h"
#include "apiserver/schema/field_error.h"
#include "json/value.h"

namespace mangrove::apiserver {

// First status, finalizers, generated selectors; also drops a status the author sent where status
// is a subresource.
void onCreate(const KindInfo& kind, json::Value& object);

// What the author of an update left out because the server had given it.
void onUpdate(const KindInfo& kind, json::Value& now, const json::Value& old);

FieldErrors validateCreate(const KindInfo& kind, const json::Value& object);
FieldErrors validateUpdate(const KindInfo& kind, const json::Value& now, const json::Value& old);
// A write through /status: the new object's metadata and status, the old one's spec.
FieldErrors validateStatusUpdate(const KindInfo& kind, const json::Value& now,
                                 const json::Value& old);

}  // namespace mangrove::apiserver
