#pragma once
// JSON merge patch (RFC 7386): the patch looks like the document; null removes a member, arrays are
// replaced whole.
//
//   applyMergePatch(node, *json::parse(R"({"metadata":{"labels":{"tier":null}}})"));
//   auto patch = mergeDiff(before, after);            // the smallest one
//
// Pure functions on values.

#include "json/value.h"

namespace mangrove::json {

void applyMergePatch(Value& document, const Value& patch);

// The smallest patch that turns one document into the other. A merge patch cannot set a member to
// null, so a new null in `to` is an error (kUnsupported) that names the path. For two equal objects
// the patch is {}.
Result<Value> mergeDiff(const Value& from, const Value& to);

}  // namespace mangrove::json
