#include "json/random_value.h"

#include "json/pointer.h"

namespace mangrove::json {

namespace {
constexpr const char* kKeys[] = {"a", "b", "c", "name", "x/y", "m~n", "", "é"};
constexpr const char* kOps[] = {"add", "remove", "replace", "move", "copy", "test"};
}  // namespace

std::string RandomValue::key() {
  return kKeys[below(std::size(kKeys))];
}

Value RandomValue::scalar() {
  switch (below(7)) {
    case 0:
      return nullptr;
    case 1:
      return chance(2);
    case 2:
      return static_cast<double>(below(64)) / 8 - 2;
    case 3:
      return boost::json::string(key());
    case 4:
      return boost::json::string("line\n\"quoted\" \\ text");
    default:
      return static_cast<int64_t>(below(5)) - 2;
  }
}

Value RandomValue::value(int depth) {
  const size_t kind = depth <= 0 ? 0 : below(4);
  if (kind < 2) return scalar();
  if (kind == 2) {
    Array array;
    for (size_t i = below(4); i > 0; --i) array.push_back(value(depth - 1));
    return array;
  }
  Object object;
  for (size_t i = below(5); i > 0; --i) object.insert_or_assign(key(), value(depth - 1));
  return object;
}

Value RandomValue::document() {
  for (;;)
    if (Value made = value(4); made.is_object() || made.is_array()) return made;
}

Value RandomValue::changed(const Value& from) {
  if (chance(8)) return value(2);
  Value out = from;
  if (Object* object = out.if_object()) {
    for (auto& member : *object)
      if (chance(2)) member.value() = changed(member.value());
    if (chance(4) && !object->empty())
      object->stable_erase(object->begin() + below(object->size()));
    if (chance(4)) object->insert_or_assign(key(), value(2));
  } else if (Array* array = out.if_array()) {
    for (Value& element : *array)
      if (chance(3)) element = changed(element);
    if (chance(4) && !array->empty()) array->erase(array->begin() + below(array->size()));
    if (chance(4)) array->insert(array->begin() + below(array->size() + 1), value(2));
  }
  return out;
}

Value RandomValue::withoutNulls(Value value) {
  if (Object* object = value.if_object()) {
    Object kept;
    for (auto& member : *object)
      if (!member.value().is_null()) kept.emplace(member.key(), withoutNulls(member.value()));
    return kept;
  }
  if (Array* array = value.if_array())
    for (Value& element : *array) element = withoutNulls(element);
  return value;
}

std::string RandomValue::path(const Value& document) {
  Pointer pointer;
  const Value* at = &document;
  while (!chance(4)) {
    if (const Object* object = at->if_object(); object != nullptr && !object->empty()) {
      const auto& member = *(object->begin() + below(object->size()));
      pointer = pointer.child(member.key());
      at = &member.value();
    } else if (const Array* array = at->if_array(); array != nullptr && !array->empty()) {
      const size_t index = below(array->size());
      pointer = pointer.child(index);
      at = &(*array)[index];
    } else {
      break;
    }
  }
  if (chance(3) && at->is_object()) pointer = pointer.child(key());
  if (chance(3) && at->is_array())
    pointer = chance(2) ? pointer.child("-") : pointer.child(below(4));
  if (chance(20)) pointer = pointer.child("nowhere");
  return pointer.text();
}

Value RandomValue::jsonPatch(const Value& document, size_t operations) {
  Array patch;
  for (size_t i = 0; i < operations; ++i) {
    const Value* target = nullptr;
    Object operation{{"op", kOps[below(std::size(kOps))]}, {"path", path(document)}};
    if (chance(2)) target = find(document, *Pointer::parse(operation["path"].get_string()));
    operation.emplace("from", path(document));
    operation.emplace("value", target != nullptr ? *target : value(2));
    patch.push_back(std::move(operation));
  }
  return patch;
}

}  // namespace mangrove::json
