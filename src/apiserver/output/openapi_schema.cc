#include "apiserver/output/openapi_schema.h"

#include <algorithm>

#include <fmt/core.h>

#include "apiserver/schema/pattern.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kMetaPrefix = "io.k8s.apimachinery.pkg.apis.meta.v1.";
constexpr std::string_view kGvk = "x-kubernetes-group-version-kind";
constexpr std::string_view kPreserve = "x-kubernetes-preserve-unknown-fields";

std::string metaName(std::string_view type) {
  return std::string(kMetaPrefix) + std::string(type);
}

// Scalars that have a definition of their own, so that explain can name them.
std::string scalarName(Type type) {
  switch (type) {
    case Type::kQuantity:
      return "io.k8s.apimachinery.pkg.api.resource.Quantity";
    case Type::kIntOrString:
      return "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
    case Type::kTime:
      return metaName("Time");
    case Type::kMicroTime:
      return metaName("MicroTime");
    case Type::kDuration:
      return metaName("Duration");
    default:
      return "";
  }
}

json::Object oneOfTypes(std::string_view a, std::string_view b) {
  return {{"oneOf", json::Array{json::Object{{"type", a}}, json::Object{{"type", b}}}}};
}

json::Object scalarBody(Type type, OpenApi version) {
  const bool three = version == OpenApi::kV3;
  json::Object out{{"type", "string"}};
  switch (type) {
    case Type::kQuantity:
      return three ? oneOfTypes("string", "number") : out;
    case Type::kIntOrString:
      if (three) out = oneOfTypes("integer", "string");
      out["format"] = "int-or-string";
      return out;
    case Type::kTime:
    case Type::kMicroTime:
      out["format"] = "date-time";
      return out;
    default:
      return out;
  }
}

void putNumberType(const Schema& schema, json::Object& out) {
  out["type"] = schema.type == Type::kInteger ? "integer" : "number";
  if (schema.bits == 0) return;
  const bool wide = schema.bits == 64;
  if (schema.type == Type::kInteger)
    out["format"] = wide ? "int64" : "int32";
  else
    out["format"] = wide ? "double" : "float";
}

json::Array textsOf(const std::vector<std::string_view>& texts) {
  return json::Array(texts.begin(), texts.end());
}

void putListType(const Schema& schema, json::Object& out) {
  if (schema.listType == ListType::kAtomic) return;
  out["x-kubernetes-list-type"] = schema.listType == ListType::kSet ? "set" : "map";
  if (schema.listType == ListType::kMap)
    out["x-kubernetes-list-map-keys"] = textsOf(schema.listKeys);
}

void putPatchRule(const PatchRule& rule, json::Object& out) {
  std::vector<std::string_view> words;
  if (rule.merge) words.push_back("merge");
  if (rule.replace) words.push_back("replace");
  if (rule.retainKeys) words.push_back("retainKeys");
  if (!words.empty()) out["x-kubernetes-patch-strategy"] = join(words, ",");
  if (!rule.mergeKey.empty()) out["x-kubernetes-patch-merge-key"] = rule.mergeKey;
}

template <class T>
void putIf(json::Object& out, std::string_view key, const std::optional<T>& value) {
  if (value) out[key] = *value;
}

}  // namespace

json::Object groupVersionKind(std::string_view group, std::string_view version,
                              std::string_view kind) {
  return {{"group", group}, {"kind", kind}, {"version", version}};
}

std::string definitionName(const KindInfo& kind) {
  if (!kind.isCustom) return std::string(kind.schema->name);
  auto labels = split(kind.group, '.');
  std::reverse(labels.begin(), labels.end());
  return fmt::format("{}.{}.{}", join(labels, "."), kind.version, kind.kind);
}

json::Object DefinitionWriter::reference(std::string_view name) const {
  const std::string_view where =
      version_ == OpenApi::kV3 ? "#/components/schemas/" : "#/definitions/";
  return {{"$ref", std::string(where) + std::string(name)}};
}

json::Object DefinitionWriter::named(std::string_view name, const Schema* schema) {
  if (done_.emplace(name, json::Object()).second && schema != nullptr)
    pending_.emplace_back(name, schema);
  return reference(name);
}

json::Object DefinitionWriter::scalarReference(Type type, std::string_view name) {
  if (!done_.contains(name)) done_.emplace(name, scalarBody(type, version_));
  return reference(name);
}

json::Object DefinitionWriter::typeOf(const Schema& schema) {
  if (schema.isObject() && !schema.name.empty()) return named(schema.name, &schema);
  const std::string scalar = custom_ ? "" : scalarName(schema.type);
  return scalar.empty() ? bodyOf(schema) : scalarReference(schema.type, scalar);
}

json::Object DefinitionWriter::bodyOf(const Schema& schema) {
  json::Object out;
  if (!schema.description.empty()) out["description"] = schema.description;
  putShape(schema, out);
  if (schema.nullable && version_ == OpenApi::kV3) out["nullable"] = true;
  if (schema.constraints != nullptr && !schema.openEnum) putConstraints(*schema.constraints, out);
  if (schema.preserveUnknown && custom_) out[kPreserve] = true;
  if (schema.embeddedResource) out["x-kubernetes-embedded-resource"] = true;
  if (schema.atomicMap) out["x-kubernetes-map-type"] = "atomic";
  return out;
}

void DefinitionWriter::putShape(const Schema& schema, json::Object& out) {
  switch (schema.type) {
    case Type::kAny:  // kubectl explain stumbles over a schema without any member
      out[kPreserve] = true;
      return;
    case Type::kObject:
      out["type"] = "object";
      return putFields(schema, out);
    case Type::kArray:
      out["type"] = "array";
      if (schema.items != nullptr) out["items"] = typeOf(*schema.items);
      return putListType(schema, out);
    case Type::kInteger:
    case Type::kNumber:
      return putNumberType(schema, out);
    case Type::kBoolean:
      out["type"] = "boolean";
      return;
    case Type::kIntOrString:
      out["x-kubernetes-int-or-string"] = true;
      return;
    case Type::kBytes:
      out["format"] = "byte";
      [[fallthrough]];
    default:
      out["type"] = "string";
  }
}

void DefinitionWriter::putFields(const Schema& schema, json::Object& out) {
  if (schema.values != nullptr) out["additionalProperties"] = typeOf(*schema.values);
  if (schema.fields.empty()) return;
  json::Object properties;
  json::Array required;
  for (const Field& field : schema.fields) {
    properties[field.name] = propertyOf(field);
    if (field.required) required.emplace_back(field.name);
  }
  out["properties"] = std::move(properties);
  if (!required.empty()) out["required"] = std::move(required);
}

json::Object DefinitionWriter::propertyOf(const Field& field) {
  json::Object type = typeOf(*field.schema);
  json::Object more;
  if (!field.description.empty()) more["description"] = field.description;
  if (field.defaultValue != nullptr) more["default"] = *field.defaultValue;
  putPatchRule(field.patch, more);
  if (more.empty()) return type;
  // Version 3 ignores what stands beside a reference.
  if (version_ == OpenApi::kV3 && type.contains("$ref"))
    type = json::Object{{"allOf", json::Array{std::move(type)}}};
  for (auto& member : more) type[member.key()] = std::move(member.value());
  return type;
}

void DefinitionWriter::putConstraints(const Constraints& c, json::Object& out) {
  if (!c.enumValues.empty()) out["enum"] = json::Array(c.enumValues.begin(), c.enumValues.end());
  if (!c.format.empty()) out["format"] = c.format;
  putIf(out, "minimum", c.minimum);
  putIf(out, "maximum", c.maximum);
  putIf(out, "multipleOf", c.multipleOf);
  if (c.exclusiveMinimum) out["exclusiveMinimum"] = true;
  if (c.exclusiveMaximum) out["exclusiveMaximum"] = true;
  putIf(out, "minLength", c.minLength);
  putIf(out, "maxLength", c.maxLength);
  putIf(out, "minItems", c.minItems);
  putIf(out, "maxItems", c.maxItems);
  putIf(out, "minProperties", c.minProperties);
  putIf(out, "maxProperties", c.maxProperties);
  if (c.uniqueItems) out["uniqueItems"] = true;
  if (c.pattern) out["pattern"] = c.pattern->source();
}

void DefinitionWriter::addList(const KindInfo& kind, const std::string& name) {
  const Schema* meta = catalogue().type(metaName("ListMeta"));
  json::Object properties{{"apiVersion", json::Object{{"type", "string"}}},
                          {"items", json::Object{{"type", "array"}, {"items", reference(name)}}},
                          {"kind", json::Object{{"type", "string"}}},
                          {"metadata", named(metaName("ListMeta"), meta)}};
  json::Object list{{"type", "object"},
                    {"properties", std::move(properties)},
                    {"required", json::Array{"items"}},
                    {kGvk, json::Array{groupVersionKind(kind.group, kind.version, kind.listKind)}}};
  done_[name + "List"] = std::move(list);
}

// What every object says of itself, where its definition says nothing about it: kubectl explain shows it.
static void describeHead(json::Object& body) {
  static constexpr std::pair<std::string_view, std::string_view> kHead[] = {
      {"apiVersion", "APIVersion defines which version of its kind this object is written in."},
      {"kind", "Kind is the name of what this object describes; it cannot be changed."},
      {"metadata",
       "Name, namespace, labels and annotations of this object, and what the server notes of it."}};
  json::Value* properties = body.if_contains("properties");
  if (properties == nullptr || !properties->is_object()) return;
  for (const auto& [name, text] : kHead) {
    json::Value* one = properties->get_object().if_contains(name);
    if (one && one->is_object() && !one->get_object().contains("$ref"))
      one->get_object().emplace("description", text);
  }
}

std::string DefinitionWriter::addKind(const KindInfo& kind) {
  const std::string name = definitionName(kind);
  custom_ = kind.isCustom;
  json::Object body = bodyOf(*kind.schema);
  custom_ = false;
  // kubectl takes what version 2 names for all there may be: where anything may be, nothing is named.
  if (kind.isCustom && version_ == OpenApi::kV2 && body.contains(kPreserve))
    body = json::Object{{"type", "object"}};
  if (kind.isCustom) describeHead(body);
  body[kGvk] = json::Array{groupVersionKind(kind.group, kind.version, kind.kind)};
  done_[name] = std::move(body);
  if (kind.can("list")) addList(kind, name);
  settle();
  return name;
}

std::string DefinitionWriter::addType(std::string_view name) {
  const Schema* schema = catalogue().type(name);
  if (schema == nullptr) return "";
  named(name, schema);
  settle();
  return std::string(name);
}

std::string DefinitionWriter::addSubresource(const KindInfo& parent, const Subresource& sub) {
  if (sub.group == parent.group && sub.kind == parent.kind) return definitionName(parent);
  std::string_view group = sub.group.empty() ? "core" : sub.group;
  if (group.ends_with(".k8s.io")) group.remove_suffix(7);
  const std::string name =
      addType(fmt::format("io.k8s.api.{}.{}.{}", group, sub.version, sub.kind));
  if (!name.empty())
    done_[name][kGvk] = json::Array{groupVersionKind(sub.group, sub.version, sub.kind)};
  return name;
}

void DefinitionWriter::settle() {
  while (!pending_.empty()) {
    auto [name, schema] = std::move(pending_.back());
    pending_.pop_back();
    json::Object body = bodyOf(*schema);
    json::Object& slot = done_[name];
    for (auto& member : body) slot[member.key()] = std::move(member.value());
  }
}

json::Object DefinitionWriter::take() {
  json::Object out;
  for (auto& [name, body] : done_) out[name] = std::move(body);
  done_.clear();
  return out;
}

}  // namespace mangrove::apiserver
