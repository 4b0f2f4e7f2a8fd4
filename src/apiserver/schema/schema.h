#pragma once
// What an object of a kind may look like: the one model behind validation, defaulting, pruning,
// strategic patches, server-side apply, explain, OpenAPI and field selectors. Built-in kinds
// (kinds/catalogue.h, from the text tables) and custom ones (crd_schema.h, from their definitions)
// are the same nodes.
//
//   SchemaRef pod = catalogue().find("", "v1", "Pod")->schema;
//   const Field* image = pod->find({"spec", "containers", "image"});  // walks through lists, maps
//   for (const Field& f : spec->fields) print(f.name, typeText(*f.schema));
//
// Nodes are immutable once their SchemaSet is finished; everything here may be read from any
// thread. Inner pointers are plain: nodes may refer to each other in circles (a schema of schemas)
// and all live exactly as long as their SchemaSet. Hold a SchemaRef to keep a set alive.

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace mangrove::apiserver {

enum class Type : uint8_t {
  kAny,          // any JSON: nothing is known and nothing is checked
  kObject,       // named fields, or values by key, or both
  kArray,        //
  kString,       //
  kInteger,      // whole number; Schema::bits says how wide
  kNumber,       //
  kBoolean,      //
  kIntOrString,  // 8080 or "http", 1 or "25%"
  kQuantity,     // "500m"; a bare number is accepted and stored as text
  kTime,         // RFC 3339, whole seconds
  kMicroTime,    // RFC 3339, microseconds
  kDuration,     // Go's "1h30m"
  kBytes,        // base64
};
const char* typeName(Type type);  // "object", "array", "string", "quantity", …

enum class ListType : uint8_t {
  kAtomic,  // replaced as a whole
  kSet,     // scalars, each at most once
  kMap,     // objects told apart by Schema::listKeys
};

struct Schema;
class Pattern;

// How strategic merge patches treat a field.
struct PatchRule {
  bool merge = false;       // lists: merge element by element; otherwise replace
  bool replace = false;     // maps: replace as a whole; otherwise merge member by member
  bool retainKeys = false;  // maps: members the patch does not name under $retainKeys go away
  std::string_view mergeKey = {};  // lists of objects: the member that identifies an element
};

// Messages that stand between a field and its value in protobuf where JSON has a choice of types.
enum class ProtoChoice : uint8_t {
  kNone,
  kOrArray,    // {1: the value, 2: a list of such}
  kOrBool,     // {1: true or false, 2: the value}
  kOrStrings,  // of each value of a map: {1: a value of the type around the field, 2: texts}
};

// Where a field stands in Kubernetes' protobuf messages (protobuf/message.h).
struct ProtoPlace {
  // Its number, behind those of the messages around it that JSON does not show (the source of a
  // volume); the rest is 0. All 0: protobuf does not know the field.
  std::array<uint16_t, 3> numbers = {};
  ProtoChoice choice = ProtoChoice::kNone;

  bool exists() const { return numbers[0] != 0; }
};

struct Field {
  std::string_view name;
  const Schema* schema = nullptr;
  const json::Value* defaultValue = nullptr;  // nullptr: none
  PatchRule patch = {};
  // Built-in kinds: shown as required by explain and OpenAPI; the rules of the kind enforce it.
  // Custom kinds: enforced by validate().
  bool required = false;
  // Zero, "" or [] differs from absent and stays; elsewhere built-in kinds drop it when read.
  bool keepsZero = false;
  // Built-in kinds: written even when nobody set it, as zero, "" or {}. Typed clients rely on it.
  bool isAlwaysThere = false;
  std::string_view description = {};  // "" when nobody wrote one
  ProtoPlace proto = {};
};

// Bounds and alternatives. Custom kinds use all of it, the built-in tables enumValues only.
struct Constraints {
  std::vector<json::Value> enumValues;  // empty: anything
  std::optional<double> minimum, maximum, multipleOf;
  bool exclusiveMinimum = false, exclusiveMaximum = false;
  std::optional<int64_t> minLength, maxLength, minItems, maxItems, minProperties, maxProperties;
  bool uniqueItems = false;
  std::shared_ptr<const Pattern> pattern;  // nullptr: none; searched for anywhere in the text
  std::string_view format;  // "date-time", "duration", "byte", "ipv4", …; unknown ones are ignored
  std::vector<std::string_view> required;  // inside anyOf & co. only; properties carry their own
  std::vector<const Schema*> allOf, anyOf, oneOf;
  const Schema* negated = nullptr;  // "not"
  bool hasRules = false;            // x-kubernetes-validations (CEL): accepted, not evaluated
};

struct Schema {
  Type type = Type::kAny;
  uint8_t bits = 0;       // kInteger, kNumber: 32 or 64; 0 when the author did not say
  bool nullable = false;  // null is a value of its own and stays

  // Objects. A type with a name of its own has one definition in OpenAPI
  // ("io.k8s.api.core.v1.Pod").
  std::string_view name = {};
  std::vector<Field> fields = {};  // sorted by name
  const Schema* values = nullptr;  // of members that are no named field; nullptr: there are none
  bool preserveUnknown = false;    // members unknown to this node are kept as they are
  bool embeddedResource = false;   // has apiVersion, kind and metadata like a whole object
  bool atomicMap = false;          // apply owns it as a whole
  bool orBoolean = false;          // true or false may stand in its place (additionalProperties)
  bool openEnum = false;           // enumValues are documentation, others are accepted

  // Arrays.
  const Schema* items = nullptr;
  ListType listType = ListType::kAtomic;
  std::vector<std::string_view> listKeys = {};  // kMap only

  // The default of a null element or value; only custom kinds have one.
  const json::Value* elementDefault = nullptr;
  const Constraints* constraints = nullptr;  // nullptr: none
  std::string_view description = {};

  const Field* field(std::string_view key) const;
  // What a member of that name must look like: its field's schema, else that of all values.
  const Schema* member(std::string_view key) const;
  // Follows names through objects, list elements and map values; nullptr when there is no such.
  const Field* find(std::span<const std::string_view> path) const;
  const Field* find(std::initializer_list<std::string_view> path) const {
    return find(std::span(path.begin(), path.size()));
  }
  // This node with every list unwrapped: of []Container the Container.
  const Schema& element() const;

  bool isScalar() const { return type != Type::kAny && !isObject() && !isArray(); }
  bool isObject() const { return type == Type::kObject; }
  bool isArray() const { return type == Type::kArray; }
  bool isMap() const { return isObject() && values != nullptr && fields.empty(); }
};

// "[]Container", "map[string]string", "integer", … as explain shows it. `Object` for structs.
std::string typeText(const Schema& schema);

using SchemaRef = std::shared_ptr<const Schema>;

// Owns nodes, texts and default values. Fill it from one thread, then hand out refs and change
// nothing more.
class SchemaSet : public std::enable_shared_from_this<SchemaSet> {
 public:
  static std::shared_ptr<SchemaSet> make() { return std::make_shared<SchemaSet>(); }

  Schema* add(Schema schema = {});
  Constraints* add(Constraints constraints);
  const json::Value* add(json::Value value);
  std::string_view text(std::string_view text);  // a copy that lives as long as the set
  // Call once the fields of all nodes are there: sorts them.
  void finish();

  SchemaRef ref(const Schema* node) const { return {shared_from_this(), node}; }

 private:
  std::deque<Schema> nodes_;
  std::deque<Constraints> constraints_;
  std::deque<json::Value> values_;
  std::deque<std::string> texts_;
};

}  // namespace mangrove::apiserver
