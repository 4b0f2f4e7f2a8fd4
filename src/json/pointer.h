#pragma once
// JSON pointers (RFC 6901) and the few edits everything else is built from.
//
//   auto where = Pointer::parse("/metadata/annotations/mangrove.io~1why");
//   if (const Value* why = find(pod, *where)) …
//   set(pod, where->child("since"), "2026-01-01");
//
// Pointers are values. The edits work on values the caller owns and either do all or nothing.
// Errors name the first part of the path that is not there ("/spec/containers/3: the array has 2
// elements").

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace mangrove::json {

class Pointer {
 public:
  Pointer() = default;  // the whole document
  // "" or "/a/b~1c"; "~0" is '~' and "~1" is '/'.
  static Result<Pointer> parse(std::string_view text);

  Pointer child(std::string_view key) const;
  Pointer child(size_t index) const;
  Pointer parent() const;  // of the whole document: itself

  bool isRoot() const { return tokens_.empty(); }
  const std::vector<std::string>& tokens() const { return tokens_; }  // unescaped
  const std::string& last() const { return tokens_.back(); }          // not for the root
  // This is other or above it.
  bool contains(const Pointer& other) const;
  std::string text() const;
  // The first tokens only; for messages.
  std::string text(size_t count) const;
  bool operator==(const Pointer&) const = default;

 private:
  std::vector<std::string> tokens_;
};

// One token as it stands between slashes.
std::string escapeToken(std::string_view token);

// nullptr: nothing there.
const Value* find(const Value& document, const Pointer& pointer);
Value* find(Value& document, const Pointer& pointer);
// The same with a sentence about what is missing (kNotFound) or no container (kInvalid).
Result<Value*> locate(Value& document, const Pointer& pointer);
Result<const Value*> locate(const Value& document, const Pointer& pointer);

// Object: creates or replaces the member. Array: replaces the element; "-" appends. The parent must
// exist.
Result<void> set(Value& document, const Pointer& pointer, Value value);
// As set, but an array makes room: the element is put before the one at that index ("add" of JSON
// patch).
Result<void> insert(Value& document, const Pointer& pointer, Value value);
// Takes the value out and returns it; the order of the remaining members stays.
Result<Value> remove(Value& document, const Pointer& pointer);

}  // namespace mangrove::json
