#pragma once
// Brings an object of a built-in kind into the form in which Kubernetes stores it: what decoding
// into its types and encoding again would do. Wrong types are refused; unknown fields are taken out
// and reported; nulls and zeros that mean "not set" go away; quantities ("0.5" → "500m"), times and
// durations get their one spelling.
//
//   auto decoded = decode(*kind, body);
//   if (!decoded) return badRequest(decoded.error().text());
//   for (const std::string& path : decoded->unknown) warn("unknown field \"" + path + "\"");
//
// Custom kinds keep their bytes: only apiVersion, kind and metadata are decoded, the rest is pruned
// by their own schema (pruning.h). Pure; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/kinds/catalogue.h"
#include "apiserver/schema/schema.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::apiserver {

struct Decoded {
  std::vector<std::string> unknown;  // paths of fields that were taken out, e.g. "spec.colour"
};

// On failure the object is half changed: throw it away. The sentence names field, value and what
// was expected and is meant for a 400.
Result<Decoded> decode(const KindInfo& kind, json::Value& object);
// A part or something that is no kind: DeleteOptions, a Binding's target, ….
Result<Decoded> decode(const Schema& schema, json::Value& value, std::string_view what);

// The sentence for fieldValidation=Strict, e.g.
// `strict decoding error: unknown field "spec.x", duplicate field "spec.y"`.
std::string strictDecodingText(const std::vector<std::string>& unknown,
                               const std::vector<std::string>& duplicate);

}  // namespace mangrove::apiserver
