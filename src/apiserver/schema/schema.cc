#include "apiserver/schema/schema.h"

#include <algorithm>

namespace mangrove::apiserver {

const char* typeName(Type type) {
  switch (type) {
    case Type::kAny:
      return "any";
    case Type::kObject:
      return "object";
    case Type::kArray:
      return "array";
    case Type::kString:
      return "string";
    case Type::kInteger:
      return "integer";
    case Type::kNumber:
      return "number";
    case Type::kBoolean:
      return "boolean";
    case Type::kIntOrString:
      return "int-or-string";
    case Type::kQuantity:
      return "quantity";
    case Type::kTime:
      return "time";
    case Type::kMicroTime:
      return "microtime";
    case Type::kDuration:
      return "duration";
    case Type::kBytes:
      return "bytes";
  }
  return "any";
}

namespace {

// Names differ in their first letters: cheaper than asking the C library, and asked for every
// member of every object.
bool isBefore(std::string_view a, std::string_view b) {
  const size_t shorter = std::min(a.size(), b.size());
  for (size_t i = 0; i < shorter; ++i)
    if (a[i] != b[i]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]);
  return a.size() < b.size();
}

}  // namespace

const Field* Schema::field(std::string_view key) const {
  auto at =
      std::lower_bound(fields.begin(), fields.end(), key,
                       [](const Field& f, std::string_view n) { return isBefore(f.name, n); });
  return at != fields.end() && at->name == key ? &*at : nullptr;
}

const Schema* Schema::member(std::string_view key) const {
  const Field* known = field(key);
  return known != nullptr ? known->schema : values;
}

const Schema& Schema::element() const {
  const Schema* node = this;
  while (node->isArray() && node->items != nullptr) node = node->items;
  return *node;
}

namespace {

// A path names fields only: the elements of lists and the values of maps are stepped into. A map
// of scalars is the end of the road.
const Schema& fieldsOf(const Schema& schema) {
  const Schema* node = &schema.element();
  while (node->isMap()) node = &node->values->element();
  return *node;
}

}  // namespace

const Field* Schema::find(std::span<const std::string_view> path) const {
  const Schema* node = this;
  const Field* found = nullptr;
  for (std::string_view step : path) {
    found = fieldsOf(*node).field(step);
    if (found == nullptr) return nullptr;
    node = found->schema;
  }
  return found;
}

std::string typeText(const Schema& schema) {
  if (schema.isArray()) return "[]" + (schema.items ? typeText(*schema.items) : "any");
  if (schema.isMap()) return "map[string]" + typeText(*schema.values);
  if (!schema.name.empty()) return std::string(schema.name.substr(schema.name.rfind('.') + 1));
  return typeName(schema.type);
}

Schema* SchemaSet::add(Schema schema) {
  return &nodes_.emplace_back(std::move(schema));
}

Constraints* SchemaSet::add(Constraints constraints) {
  return &constraints_.emplace_back(std::move(constraints));
}

const json::Value* SchemaSet::add(json::Value value) {
  return &values_.emplace_back(std::move(value));
}

std::string_view SchemaSet::text(std::string_view text) {
  return text.empty() ? std::string_view() : std::string_view(texts_.emplace_back(text));
}

void SchemaSet::finish() {
  for (Schema& node : nodes_)
    std::sort(node.fields.begin(), node.fields.end(),
              [](const Field& a, const Field& b) { return a.name < b.name; });
}

}  // namespace mangrove::apiserver
