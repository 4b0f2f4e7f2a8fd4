#pragma once
// Fields a schema does not know, and fields written twice.
//
//   std::vector<std::string> gone = prune(*kind.schema, object);      // "spec.colour", …
//   std::vector<std::string> twice = duplicateFields(doc.root());     // only the text knows
//
// What to do about them (fieldValidation Strict, Warn, Ignore) is the caller's business; unknown
// fields never reach the store either way. Built-in objects need no prune(): decode() does it on
// the way. Pure; any thread.

#include <string>
#include <vector>

#include "apiserver/schema/schema.h"
#include "json/value.h"
#include "json/view.h"

namespace mangrove::apiserver {

// Takes out every member the schema has no place for and returns their paths. Values of a wrong
// type are left alone for validation to find.
std::vector<std::string> prune(const Schema& schema, json::Value& value);
// The same without changing anything: for defaults and for objects that must be clean already.
std::vector<std::string> unknownFields(const Schema& schema, const json::Value& value);

// At most this many are listed; a hostile object may have a million.
inline constexpr size_t kMostDuplicates = 20;
std::vector<std::string> duplicateFields(json::View object);

}  // namespace mangrove::apiserver
