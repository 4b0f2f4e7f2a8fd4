#include "apiserver/schema/validation.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>

#include "apiserver/schema/formats.h"
#include "apiserver/schema/pattern.h"

namespace mangrove::apiserver {
namespace {

using json::Value;

std::string label(const FieldPath& at) {
  return at.isRoot() ? "the object" : at.text();
}

template <class... Args>
void complain(FieldErrors& errors, const FieldPath& at, const Value& value,
              fmt::format_string<Args...> format, Args&&... args) {
  errors.invalid(at, value,
                 label(at) + " in body " + fmt::format(format, std::forward<Args>(args)...));
}

size_t characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

std::optional<double> numberOf(const Value& value) {
  switch (value.kind()) {
    case boost::json::kind::int64:
      return static_cast<double>(value.get_int64());
    case boost::json::kind::uint64:
      return static_cast<double>(value.get_uint64());
    case boost::json::kind::double_:
      return value.get_double();
    default:
      return std::nullopt;
  }
}

bool isWhole(const Value& value) {
  std::optional<double> number = numberOf(value);
  return number && (!value.is_double() || std::trunc(*number) == *number);
}

bool fits(const Schema& schema, const Value& value) {
  if (value.is_null()) return schema.nullable || schema.type == Type::kAny;
  switch (schema.type) {
    case Type::kAny:
      return true;
    case Type::kObject:
      return value.is_object() || (schema.orBoolean && value.is_bool());
    case Type::kArray:
      return value.is_array();
    case Type::kInteger:
      return isWhole(value);
    case Type::kNumber:
      return value.is_number();
    case Type::kBoolean:
      return value.is_bool();
    case Type::kIntOrString:
      return value.is_string() || isWhole(value);
    case Type::kQuantity:
      return value.is_string() || value.is_number();
    default:
      return value.is_string();
  }
}

const char* kindOf(const Value& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_bool()) return "boolean";
  if (value.is_null()) return "null";
  return isWhole(value) ? "integer" : "number";
}

class Validator {
 public:
  explicit Validator(FieldErrors& errors) : errors_(errors) {}
  void visit(const Schema& schema, const Value& value, const FieldPath& at);

 private:
  void object(const Schema& schema, const json::Object& object, const FieldPath& at);
  void array(const Schema& schema, const json::Array& array, const FieldPath& at);
  void unique(const Schema& schema, const json::Array& array, const FieldPath& at);
  void check(const Constraints& c, const Value& value, const FieldPath& at);
  void enumeration(const Constraints& c, const Value& value, const FieldPath& at);
  void number(const Constraints& c, const Value& value, const FieldPath& at);
  void text(const Constraints& c, const Value& value, const FieldPath& at);
  void items(const Constraints& c, const Value& value, const FieldPath& at);
  void properties(const Constraints& c, const Value& value, const FieldPath& at);
  void alternatives(const Constraints& c, const Value& value, const FieldPath& at);
  static bool isValid(const Schema& schema, const Value& value);

  FieldErrors& errors_;
};

bool Validator::isValid(const Schema& schema, const Value& value) {
  FieldErrors found;
  Validator(found).visit(schema, value, FieldPath());
  return found.empty();
}

void Validator::visit(const Schema& schema, const Value& value, const FieldPath& at) {
  if (!fits(schema, value)) {
    errors_.typeInvalid(at, kindOf(value),
                        fmt::format("{} in body must be of type {}: \"{}\"", label(at),
                                    typeName(schema.type), kindOf(value)));
    return;
  }
  // Types with a name are ours (metadata): decode() has judged them.
  if (value.is_null() || !schema.name.empty()) return;
  if (schema.constraints != nullptr) check(*schema.constraints, value, at);
  if (value.is_object()) object(schema, value.get_object(), at);
  if (value.is_array()) array(schema, value.get_array(), at);
}

void Validator::object(const Schema& schema, const json::Object& object, const FieldPath& at) {
  for (const Field& field : schema.fields)
    if (field.required && !object.contains(field.name)) errors_.required(at.child(field.name));
  for (const auto& member : object)
    if (const Schema* inside = schema.member(member.key()); inside != nullptr)
      visit(*inside, member.value(), at.child(member.key()));
}

void Validator::array(const Schema& schema, const json::Array& array, const FieldPath& at) {
  if (schema.items == nullptr) return;
  size_t index = 0;
  for (const Value& element : array) visit(*schema.items, element, at.at(index++));
  if (schema.listType != ListType::kAtomic) unique(schema, array, at);
}

// What identifies an element: itself in a set, its keys (with their defaults) in a map.
Value identity(const Schema& schema, const Value& element) {
  if (schema.listType == ListType::kSet || !element.is_object()) return element;
  json::Object keys;
  for (std::string_view key : schema.listKeys) {
    const Value* value = element.get_object().if_contains(key);
    const Field* field = schema.items->field(key);
    if (value != nullptr)
      keys[key] = *value;
    else if (field != nullptr && field->defaultValue != nullptr)
      keys[key] = *field->defaultValue;
  }
  return keys;
}

void Validator::unique(const Schema& schema, const json::Array& array, const FieldPath& at) {
  std::set<std::string> seen;
  size_t index = 0;
  for (const Value& element : array) {
    FieldPath here = at.at(index++);
    Value key = identity(schema, element);
    if (!seen.insert(json::writeSorted(key)).second) errors_.duplicate(here, key);
  }
}

void Validator::check(const Constraints& c, const Value& value, const FieldPath& at) {
  if (!c.enumValues.empty()) enumeration(c, value, at);
  if (value.is_number()) number(c, value, at);
  if (value.is_string()) text(c, value, at);
  if (value.is_array()) items(c, value, at);
  if (value.is_object()) properties(c, value, at);
  alternatives(c, value, at);
}

void Validator::enumeration(const Constraints& c, const Value& value, const FieldPath& at) {
  for (const Value& one : c.enumValues)
    if (json::equal(one, value)) return;
  std::vector<std::string> texts;
  for (const Value& one : c.enumValues)
    texts.push_back(one.is_string() ? std::string(one.get_string()) : json::write(one));
  errors_.notSupported(at, value, {texts.begin(), texts.end()});
}

void Validator::number(const Constraints& c, const Value& value, const FieldPath& at) {
  double n = *numberOf(value);
  if (c.minimum && (c.exclusiveMinimum ? n <= *c.minimum : n < *c.minimum))
    complain(errors_, at, value, "should be greater than {}{}",
             c.exclusiveMinimum ? "" : "or equal to ", *c.minimum);
  if (c.maximum && (c.exclusiveMaximum ? n >= *c.maximum : n > *c.maximum))
    complain(errors_, at, value, "should be less than {}{}",
             c.exclusiveMaximum ? "" : "or equal to ", *c.maximum);
  if (c.multipleOf && *c.multipleOf > 0) {
    double ratio = n / *c.multipleOf;
    if (std::abs(ratio - std::round(ratio)) > 1e-9)
      complain(errors_, at, value, "should be a multiple of {}", *c.multipleOf);
  }
  if (c.format == "int32" && (n < INT32_MIN || n > INT32_MAX))
    complain(errors_, at, value, "must be of type int32");
}

void Validator::text(const Constraints& c, const Value& value, const FieldPath& at) {
  std::string_view text = value.get_string();
  if (c.maxLength && characters(text) > static_cast<size_t>(*c.maxLength))
    errors_.tooLong(at, static_cast<size_t>(*c.maxLength));
  if (c.minLength && characters(text) < static_cast<size_t>(*c.minLength))
    complain(errors_, at, value, "should be at least {} chars long", *c.minLength);
  if (c.pattern != nullptr && !c.pattern->matches(text))
    complain(errors_, at, value, "should match '{}'", c.pattern->source());
  if (!c.format.empty() && !hasFormat(text, c.format))
    complain(errors_, at, value, "must be of type {}: {}", c.format, json::write(value));
}

void Validator::items(const Constraints& c, const Value& value, const FieldPath& at) {
  const json::Array& array = value.get_array();
  if (c.maxItems && array.size() > static_cast<size_t>(*c.maxItems))
    errors_.tooMany(at, array.size(), static_cast<size_t>(*c.maxItems));
  if (c.minItems && array.size() < static_cast<size_t>(*c.minItems))
    complain(errors_, at, array.size(), "should have at least {} items", *c.minItems);
  if (!c.uniqueItems) return;
  std::set<std::string> seen;
  for (const Value& element : array)
    if (!seen.insert(json::writeSorted(element)).second)
      return complain(errors_, at, element, "shouldn't contain duplicates");
}

void Validator::properties(const Constraints& c, const Value& value, const FieldPath& at) {
  const json::Object& object = value.get_object();
  if (c.maxProperties && object.size() > static_cast<size_t>(*c.maxProperties))
    errors_.tooMany(at, object.size(), static_cast<size_t>(*c.maxProperties));
  if (c.minProperties && object.size() < static_cast<size_t>(*c.minProperties))
    complain(errors_, at, object.size(), "should have at least {} properties", *c.minProperties);
  for (std::string_view name : c.required)
    if (!object.contains(name)) errors_.required(at.child(name));
}

void Validator::alternatives(const Constraints& c, const Value& value, const FieldPath& at) {
  for (const Schema* one : c.allOf) visit(*one, value, at);
  auto holds = [&](const Schema* one) { return isValid(*one, value); };
  if (!c.anyOf.empty() && std::none_of(c.anyOf.begin(), c.anyOf.end(), holds))
    complain(errors_, at, value, "must validate at least one schema (anyOf)");
  auto many = std::count_if(c.oneOf.begin(), c.oneOf.end(), holds);
  if (!c.oneOf.empty() && many != 1)
    complain(errors_, at, value, "must validate one and only one schema (oneOf). {}",
             many == 0 ? "Found none valid" : fmt::format("Found {} valid alternatives", many));
  if (c.negated != nullptr && holds(c.negated))
    complain(errors_, at, value, "must not validate the schema (not)");
}

void enumMember(const Schema& schema, const Value& value, const FieldPath& at,
                FieldErrors& errors) {
  if (schema.openEnum || schema.constraints == nullptr || !value.is_string()) return;
  std::vector<std::string_view> supported;
  for (const Value& one : schema.constraints->enumValues) {
    if (one == value) return;
    supported.push_back(one.get_string());
  }
  if (!supported.empty()) errors.notSupported(at, value, supported);
}

}  // namespace

void validate(const Schema& schema, const Value& value, const FieldPath& at, FieldErrors& errors) {
  Validator(errors).visit(schema, value, at);
}

void validateEnums(const Schema& schema, const Value& value, const FieldPath& at,
                   FieldErrors& errors) {
  if (value.is_array() && schema.items != nullptr) {
    size_t index = 0;
    for (const Value& element : value.get_array())
      validateEnums(*schema.items, element, at.at(index++), errors);
  } else if (value.is_object()) {
    for (const auto& member : value.get_object()) {
      const Schema* inside = schema.member(member.key());
      if (inside == nullptr || (at.isRoot() && member.key() == "status")) continue;
      validateEnums(*inside, member.value(), at.child(member.key()), errors);
    }
  } else {
    enumMember(schema, value, at, errors);
  }
}

}  // namespace mangrove::apiserver
