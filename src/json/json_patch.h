#pragma once
// JSON patch (RFC 6902): a list of add, remove, replace, move, copy and test, applied all or not at
// all.
//
//   if (auto done = applyJsonPatch(pod, *json::parse(body)); !done)
//     return done.error().in("patch of pod {}", name);
//        // "operation 2 (replace /spec/x): /spec/x: no such member"
//   send(jsonDiff(before, after));
//
// Pure functions on values. Numbers are compared by amount (1 passes a test for 1.0), as the RFC
// says.

#include "json/value.h"

namespace mangrove::json {

// The API server's own limits, so that a patch accepted here is accepted there.
struct PatchLimits {
  size_t maxOperations = 10'000;
  size_t maxCopyBytes = size_t{3} << 20;  // sum of the texts of all copied values
  size_t maxDepth = 512;                  // of the patched document; copies could nest without end
};

// On failure the document is as before. Codes: kInvalid for a malformed patch, kConflict for a
// failed test, kNotFound for a missing path, kTooLarge for a limit.
Result<void> applyJsonPatch(Value& document, const Value& patch, const PatchLimits& limits = {});

// Operations that turn one document into the other; an empty array when they are equal.
Value jsonDiff(const Value& from, const Value& to);

}  // namespace mangrove::json
