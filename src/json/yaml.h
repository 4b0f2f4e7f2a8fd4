#pragma once
// YAML in and out, read as kubectl reads it.
//
//   auto documents = parseYaml(text, "web.yaml");
//   if (!documents) return pass(documents.error());
//     // "web.yaml:12:3: the key 'image' is there twice (line 9)", the line and a caret
//   for (auto& [value, line] : *documents) apply(value);
//   out << writeYaml(value);
//
// Pure functions; any thread.
//
// Reading. Unquoted scalars follow YAML 1.1 as kubectl does: y, yes, on, true and n, no, off, false
// (also Yes, YES, …) are booleans; ~, null and nothing are null; 0x1F, 0b11, 0o17 and 017 are
// integers, 08 is 8, underscores are skipped; numbers that are whole are integers whether they are
// written 1, 1.0 or 1e3. Quoted scalars and anything with !!str stay strings. Keys become strings:
// 1 → "1", true → "true"; null and containers are refused as keys. Not a number and infinity are
// refused, JSON has none. Repeated keys are errors. Anchors, aliases and merge keys (<<) work; what
// aliases may multiply is limited. A text that starts with '{' is read as JSON first.
//
// Writing. Block style, two spaces, lists not indented, keys in the order they have. A string is
// quoted only if it would not read back as itself, or looks special to other YAML readers; text of
// several lines becomes a literal block.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace mangrove::json {

struct YamlDocument {
  Value value;
  size_t line = 1;  // where it starts in the text, from 1
};

struct YamlLimits {
  size_t maxBytes = size_t{64} << 20;
  size_t maxDepth = 256;
  size_t maxAliasNodes = 400'000;  // values that come into being by aliases, over the whole text
};

// All documents of a stream, in order; empty ones are left out. The name, usually a path, starts
// the messages.
Result<std::vector<YamlDocument>> parseYaml(std::string_view text, std::string_view name = {},
                                            const YamlLimits& limits = {});
// The text must hold exactly one document.
Result<Value> parseYamlDocument(std::string_view text, std::string_view name = {});

std::string writeYaml(const Value& value);
// Several documents, separated by "---".
std::string writeYaml(std::span<const Value> documents);

}  // namespace mangrove::json
