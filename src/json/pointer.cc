#include "json/pointer.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

namespace mangrove::json {
namespace {

const char* kindName(const Value& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (value.is_string()) return "a string";
  if (value.is_null()) return "null";
  return value.is_bool() ? "a boolean" : "a number";
}

// RFC 6901: digits without a leading zero.
std::optional<size_t> indexOf(std::string_view token) {
  size_t index = 0;
  const char* end = token.data() + token.size();
  if (token.empty() || (token.size() > 1 && token[0] == '0')) return std::nullopt;
  if (!std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  if (std::from_chars(token.data(), end, index).ec != std::errc{}) return std::nullopt;
  return index;
}

Result<std::string> unescapeToken(std::string_view token, std::string_view whole) {
  std::string out;
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      out += token[i];
      continue;
    }
    const char code = i + 1 < token.size() ? token[i + 1] : '\0';
    if (code != '0' && code != '1')
      return invalid("JSON pointer '{}': '~' must be followed by 0 or 1", whole);
    out += code == '0' ? '~' : '/';
    ++i;
  }
  return out;
}

// The child of a container by token; nullptr when it has none.
const Value* step(const Value& value, const std::string& token) {
  if (const Object* object = value.if_object()) return object->if_contains(token);
  const Array* array = value.if_array();
  const auto index = array == nullptr ? std::nullopt : indexOf(token);
  return index && *index < array->size() ? &(*array)[*index] : nullptr;
}

Failure missing(const Value& container, const Pointer& pointer, size_t depth) {
  const std::string path = pointer.text(depth + 1);
  const std::string& token = pointer.tokens()[depth];
  if (container.is_object()) return fail(Code::kNotFound, "{}: no such member", path);
  if (const Array* array = container.if_array()) {
    if (!indexOf(token) && token != "-")
      return invalid("{}: '{}' is no array index; want 0, 1, 2, … or -", path, token);
    return fail(Code::kNotFound, "{}: the array has {} elements", path, array->size());
  }
  return invalid("{}: {} has no members", path, kindName(container));
}

Result<size_t> placeIn(const Array& array, const Pointer& pointer, size_t end) {
  if (pointer.last() == "-") return array.size();
  const auto index = indexOf(pointer.last());
  if (index && *index < end) return *index;
  return missing(array, pointer, pointer.tokens().size() - 1);
}

Failure noContainer(const Value& parent, const Pointer& pointer) {
  return missing(parent, pointer, pointer.tokens().size() - 1);
}

}  // namespace

Result<Pointer> Pointer::parse(std::string_view text) {
  Pointer pointer;
  if (text.empty()) return pointer;
  if (text[0] != '/') return invalid("JSON pointer '{}': want '/' at the start", text);
  for (size_t from = 1; from <= text.size();) {
    const size_t end = std::min(text.find('/', from), text.size());
    auto token = unescapeToken(text.substr(from, end - from), text);
    if (!token) return pass(token.error());
    pointer.tokens_.push_back(std::move(*token));
    from = end + 1;
  }
  return pointer;
}

Pointer Pointer::child(std::string_view key) const {
  Pointer out = *this;
  out.tokens_.emplace_back(key);
  return out;
}

Pointer Pointer::child(size_t index) const {
  return child(std::to_string(index));
}

Pointer Pointer::parent() const {
  Pointer out = *this;
  if (!out.tokens_.empty()) out.tokens_.pop_back();
  return out;
}

bool Pointer::contains(const Pointer& other) const {
  return tokens_.size() <= other.tokens_.size() &&
         std::equal(tokens_.begin(), tokens_.end(), other.tokens_.begin());
}

std::string Pointer::text() const {
  return text(tokens_.size());
}

std::string Pointer::text(size_t count) const {
  std::string out;
  for (size_t i = 0; i < count; ++i) out.append(1, '/').append(escapeToken(tokens_[i]));
  return out;
}

std::string escapeToken(std::string_view token) {
  std::string out;
  for (char c : token) {
    if (c == '~' || c == '/')
      out += c == '~' ? "~0" : "~1";
    else
      out += c;
  }
  return out;
}

Result<const Value*> locate(const Value& document, const Pointer& pointer) {
  const Value* at = &document;
  for (size_t i = 0; i < pointer.tokens().size(); ++i) {
    const Value* next = step(*at, pointer.tokens()[i]);
    if (next == nullptr) return missing(*at, pointer, i);
    at = next;
  }
  return at;
}

Result<Value*> locate(Value& document, const Pointer& pointer) {
  auto found = locate(static_cast<const Value&>(document), pointer);
  if (!found) return pass(found.error());
  return const_cast<Value*>(*found);
}

const Value* find(const Value& document, const Pointer& pointer) {
  const Value* at = &document;
  for (const std::string& token : pointer.tokens())
    if (at = step(*at, token); at == nullptr) return nullptr;
  return at;
}

Value* find(Value& document, const Pointer& pointer) {
  return const_cast<Value*>(find(static_cast<const Value&>(document), pointer));
}

namespace {

// Runs edit(parent, last token's pointer) or replaces the root.
Result<void> put(Value& document, const Pointer& pointer, Value value, bool makeRoom) {
  if (pointer.isRoot()) {
    document = std::move(value);
    return {};
  }
  auto parent = locate(document, pointer.parent());
  if (!parent) return pass(parent.error());
  if (Object* object = (*parent)->if_object()) {
    object->insert_or_assign(pointer.last(), std::move(value));
    return {};
  }
  Array* array = (*parent)->if_array();
  if (array == nullptr) return noContainer(**parent, pointer);
  auto place = placeIn(*array, pointer, array->size() + (makeRoom ? 1 : 0));
  if (!place) return pass(place.error());
  if (makeRoom || *place == array->size())
    array->insert(array->begin() + *place, std::move(value));
  else
    (*array)[*place] = std::move(value);
  return {};
}

}  // namespace

Result<void> set(Value& document, const Pointer& pointer, Value value) {
  return put(document, pointer, std::move(value), false);
}

Result<void> insert(Value& document, const Pointer& pointer, Value value) {
  return put(document, pointer, std::move(value), true);
}

Result<Value> remove(Value& document, const Pointer& pointer) {
  if (pointer.isRoot()) return invalid("the whole document cannot be removed");
  auto target = locate(document, pointer);
  if (!target) return pass(target.error());
  Value taken = std::move(**target);
  Value& parent = *find(document, pointer.parent());
  if (Object* object = parent.if_object())
    object->stable_erase(object->find(pointer.last()));
  else
    parent.get_array().erase(parent.get_array().begin() + *indexOf(pointer.last()));
  return taken;
}

}  // namespace mangrove::json
