#include "apiserver/schema/crd_schema.h"

#include <fmt/core.h>

#include "apiserver/kinds/catalogue.h"
#include "apiserver/kinds/inspect.h"
#include "apiserver/schema/crd_structural.h"
#include "apiserver/schema/formats.h"
#include "apiserver/schema/pattern.h"
#include "apiserver/schema/pruning.h"
#include "apiserver/schema/validation.h"

namespace mangrove::apiserver {
namespace {

class Compiler {
 public:
  Compiler(SchemaSet& set, FieldErrors& errors) : set_(set), errors_(errors) {}

  Schema* node(const Inspect& source);
  Schema* logic(const Inspect& source);  // inside allOf & co.
  void addResourceFields(Schema& node);
  std::vector<std::string> warnings;

 private:
  void shape(const Inspect& source, Schema& out);
  void object(const Inspect& source, Schema& out);
  void array(const Inspect& source, Schema& out);
  void properties(const Inspect& source, Schema& out, bool isLogic);
  void extensions(const Inspect& source, Schema& out);
  const Constraints* constraints(const Inspect& source, bool isLogic);
  void bounds(const Inspect& source, Constraints& out);
  void texts(const Inspect& source, Constraints& out);
  void branches(const Inspect& source, std::string_view key, std::vector<const Schema*>& out);

  SchemaSet& set_;
  FieldErrors& errors_;
};

Type typeFrom(const Inspect& source) {
  if (source.flag("x-kubernetes-int-or-string")) return Type::kIntOrString;
  std::string_view type = source.text("type");
  if (type == "object") return Type::kObject;
  if (type == "array") return Type::kArray;
  if (type == "string") return Type::kString;
  if (type == "integer") return Type::kInteger;
  if (type == "number") return Type::kNumber;
  if (type == "boolean") return Type::kBoolean;
  return Type::kAny;
}

Schema* Compiler::node(const Inspect& source) {
  checkStructure(source);
  Schema* out = set_.add(Schema{});
  shape(source, *out);
  extensions(source, *out);
  out->constraints = constraints(source, false);
  return out;
}

void Compiler::shape(const Inspect& source, Schema& out) {
  out.type = typeFrom(source);
  std::string_view format = source.text("format");
  if (format == "int32" || format == "float") out.bits = 32;
  if (format == "int64" || format == "double") out.bits = 64;
  out.nullable = source.flag("nullable");
  out.description = set_.text(source.text("description"));
  properties(source, out, false);
  object(source, out);
  array(source, out);
}

void Compiler::properties(const Inspect& source, Schema& out, bool isLogic) {
  FieldPath list = source.at().child("properties");
  for (const auto& entry : source.map("properties")) {
    if (!entry.value().is_object()) continue;
    FieldPath here = list.key(entry.key());
    Inspect inside(entry.value().get_object(), here, errors_);
    Field field{.name = set_.text(entry.key())};
    field.schema = isLogic ? logic(inside) : node(inside);
    field.description = field.schema->description;
    if (const json::Value* value = inside.find("default"); value != nullptr && !isLogic)
      field.defaultValue = set_.add(*value);
    out.fields.push_back(field);
  }
  // In logic a required name needs no property beside it: it stays in the constraints.
  if (isLogic) return;
  for (const json::Value& name : source.array("required"))
    for (Field& field : out.fields)
      if (name == json::Value(field.name)) field.required = true;
}

const json::Value* defaultOf(const Inspect& source, SchemaSet& set) {
  const json::Value* value = source.find("default");
  return value != nullptr ? set.add(*value) : nullptr;
}

void Compiler::object(const Inspect& source, Schema& out) {
  const json::Value* more = source.find("additionalProperties");
  if (more != nullptr && more->is_object()) {
    Inspect inside = source.child("additionalProperties");
    out.values = node(inside);
    out.elementDefault = defaultOf(inside, set_);
  } else if (more != nullptr && *more == json::Value(true)) {
    out.values = set_.add(Schema{});
  }
}

void Compiler::array(const Inspect& source, Schema& out) {
  if (!source.has("items")) return;
  Inspect inside = source.child("items");
  out.items = node(inside);
  out.elementDefault = defaultOf(inside, set_);
}

void Compiler::extensions(const Inspect& source, Schema& out) {
  out.preserveUnknown = source.flag("x-kubernetes-preserve-unknown-fields");
  out.embeddedResource = source.flag("x-kubernetes-embedded-resource");
  out.atomicMap = source.text("x-kubernetes-map-type") == "atomic";
  if (out.embeddedResource) addResourceFields(out);
  std::string_view list = source.text("x-kubernetes-list-type");
  if (list == "set") out.listType = ListType::kSet;
  if (list == "map") out.listType = ListType::kMap;
  for (const json::Value& key : source.array("x-kubernetes-list-map-keys"))
    if (key.is_string()) out.listKeys.push_back(set_.text(key.get_string()));
  if (!source.array("x-kubernetes-validations").empty())
    warnings.push_back(
        fmt::format("{}: x-kubernetes-validations are kept but not evaluated by this server",
                    source.at().text()));
  std::string_view format = source.text("format");
  bool isNumberFormat =
      format == "int32" || format == "int64" || format == "float" || format == "double";
  if (!format.empty() && !isNumberFormat && !isKnownFormat(format))
    warnings.push_back(fmt::format("{}: unrecognized format \"{}\"", source.at().text(), format));
}

// What every whole object has, as the server itself reads it.
void Compiler::addResourceFields(Schema& node) {
  static const Schema kText{.type = Type::kString};
  const Schema* meta = catalogue().type("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  std::erase_if(node.fields, [](const Field& field) { return field.name == "metadata"; });
  node.fields.push_back(Field{.name = "metadata", .schema = meta});
  for (std::string_view name : {"apiVersion", "kind"}) {
    bool isThere = false;
    for (const Field& field : node.fields) isThere = isThere || field.name == name;
    if (!isThere) node.fields.push_back(Field{.name = name, .schema = &kText});
  }
}

Schema* Compiler::logic(const Inspect& source) {
  checkLogic(source);
  Schema* out = set_.add(Schema{});
  // Only the idiom for int-or-string names types here; anywhere else checkLogic has complained.
  out->type = typeFrom(source);
  out->nullable = true;  // whether null is allowed is the plain part's business
  properties(source, *out, true);
  if (source.has("items")) {
    Inspect inside = source.child("items");
    out->items = logic(inside);
  }
  out->constraints = constraints(source, true);
  return out;
}

std::optional<double> numberAt(const Inspect& source, std::string_view key) {
  const json::Value* value = source.find(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

void Compiler::bounds(const Inspect& source, Constraints& out) {
  out.minimum = numberAt(source, "minimum");
  out.maximum = numberAt(source, "maximum");
  out.multipleOf = numberAt(source, "multipleOf");
  out.exclusiveMinimum = source.flag("exclusiveMinimum");
  out.exclusiveMaximum = source.flag("exclusiveMaximum");
  out.minLength = source.integer("minLength");
  out.maxLength = source.integer("maxLength");
  out.minItems = source.integer("minItems");
  out.maxItems = source.integer("maxItems");
  out.minProperties = source.integer("minProperties");
  out.maxProperties = source.integer("maxProperties");
  out.uniqueItems = source.flag("uniqueItems");
  for (const json::Value& value : source.array("enum")) out.enumValues.push_back(value);
}

void Compiler::texts(const Inspect& source, Constraints& out) {
  out.format = set_.text(source.text("format"));
  out.hasRules = !source.array("x-kubernetes-validations").empty();
  std::string_view pattern = source.text("pattern");
  if (pattern.empty()) return;
  auto compiled = Pattern::compile(pattern);
  if (!compiled) return source.invalid("pattern", compiled.error().text());
  out.pattern = *compiled;
}

void Compiler::branches(const Inspect& source, std::string_view key,
                        std::vector<const Schema*>& out) {
  source.each(key, [&](const Inspect& one) { out.push_back(logic(one)); });
}

constexpr std::string_view kConstraining[] = {"enum",
                                              "minimum",
                                              "maximum",
                                              "multipleOf",
                                              "minLength",
                                              "maxLength",
                                              "minItems",
                                              "maxItems",
                                              "pattern",
                                              "minProperties",
                                              "maxProperties",
                                              "uniqueItems",
                                              "format",
                                              "allOf",
                                              "anyOf",
                                              "oneOf",
                                              "not",
                                              "required",
                                              "x-kubernetes-validations"};

const Constraints* Compiler::constraints(const Inspect& source, bool isLogic) {
  bool any = false;
  for (std::string_view key : kConstraining) any = any || source.has(key);
  if (!any) return nullptr;
  Constraints out;
  bounds(source, out);
  texts(source, out);
  branches(source, "allOf", out.allOf);
  branches(source, "anyOf", out.anyOf);
  branches(source, "oneOf", out.oneOf);
  if (source.has("not")) {
    Inspect inside = source.child("not");
    out.negated = logic(inside);
  }
  for (const json::Value& name : source.array("required")) {
    // Properties carry their own flag; names without a property are kept here.
    bool isProperty = name.is_string() && source.map("properties").contains(name.get_string());
    if (name.is_string() && (isLogic || !isProperty))
      out.required.push_back(set_.text(name.get_string()));
  }
  return set_.add(std::move(out));
}

}  // namespace

CompiledSchema compileSchema(const json::Object& source, const FieldPath& at, SchemaSet& set,
                             FieldErrors& errors) {
  Compiler compiler(set, errors);
  Inspect root(source, at, errors);
  checkRoot(root);
  CompiledSchema out;
  out.root = compiler.node(root);
  compiler.addResourceFields(*out.root);
  out.warnings = std::move(compiler.warnings);
  return out;
}

namespace {

void checkDefault(const Schema& schema, const json::Value& value, const FieldPath& at,
                  FieldErrors& errors) {
  if (value.is_null() && !schema.nullable) return errors.invalid(at, value, "must not be null");
  for (const std::string& path : unknownFields(schema, value))
    errors.invalid(at, value, fmt::format("must not have unknown field '{}'", path));
  validate(schema, value, at, errors);
}

}  // namespace

void validateDefaults(const Schema& root, const FieldPath& at, FieldErrors& errors) {
  FieldPath list = at.child("properties");
  for (const Field& field : root.fields) {
    if (!field.schema->name.empty()) continue;  // metadata: ours
    FieldPath here = list.key(field.name);
    if (field.defaultValue != nullptr)
      checkDefault(*field.schema, *field.defaultValue, here.child("default"), errors);
    validateDefaults(*field.schema, here, errors);
  }
  for (auto [inside, key] :
       {std::pair(root.values, "additionalProperties"), std::pair(root.items, "items")}) {
    if (inside == nullptr) continue;
    FieldPath here = at.child(key);
    if (root.elementDefault != nullptr)
      checkDefault(*inside, *root.elementDefault, here.child("default"), errors);
    validateDefaults(*inside, here, errors);
  }
}

}  // namespace mangrove::apiserver
