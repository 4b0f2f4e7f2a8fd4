#include "apiserver/schema/crd_validation.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "apiserver/kinds/inspect.h"
#include "apiserver/kinds/names.h"
#include "apiserver/schema/crd_schema.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {
namespace {

constexpr std::string_view kApproval = "api-approved.kubernetes.io";
constexpr size_t kMostSelectable = 8;

bool isProtected(std::string_view group) {
  return group == "k8s.io" || group == "kubernetes.io" || group.ends_with(".k8s.io") ||
         group.ends_with(".kubernetes.io");
}

void checkGroup(const Inspect& root, const Inspect& spec) {
  std::string_view group = spec.text("group");
  if (!spec.wants("group")) return;
  spec.check("group", subdomainTrouble(group));
  if (group.find('.') == std::string_view::npos)
    spec.invalid("group", "should be a domain with at least one dot");
  Inspect meta = root.child("metadata");
  Inspect annotations = meta.child("annotations");
  if (isProtected(group) && annotations.text(kApproval).empty())
    root.errors().required(annotations.at().key(kApproval),
                           "protected groups must have approval annotation "
                           "\"api-approved.kubernetes.io\"");
}

void checkNames(const Inspect& root, const Inspect& spec) {
  Inspect names = spec.child("names");
  for (std::string_view key : {"plural", "kind"})
    if (names.wants(key)) names.check(key, label1035Trouble(lower(names.text(key))));
  if (std::string_view plural = names.text("plural"); plural != lower(plural))
    names.invalid("plural", "must be lower case");
  for (std::string_view key : {"singular", "listKind"})
    if (!names.text(key).empty()) names.check(key, label1035Trouble(lower(names.text(key))));
  for (std::string_view list : {"shortNames", "categories"})
    names.eachValue(list, [&](const json::Value& name, const FieldPath& at) {
      std::string trouble = name.is_string() ? label1035Trouble(name.get_string()) : "";
      if (!trouble.empty()) names.errors().invalid(at, name, trouble);
    });
  if (!names.text("kind").empty() && names.text("kind") == names.text("listKind"))
    names.invalid("listKind", "kind and listKind may not be the same");
  Inspect meta = root.child("metadata");
  std::string wanted = fmt::format("{}.{}", names.text("plural"), spec.text("group"));
  if (meta.text("name") != wanted)
    meta.invalid("name", fmt::format("must be spec.names.plural+\".\"+spec.group, that is {}",
                                     json::write(json::Value(wanted))));
}

void checkColumns(const Inspect& version) {
  version.each("additionalPrinterColumns", [](const Inspect& column) {
    column.wants("name");
    if (column.wants("type"))
      column.oneOf("type", {"boolean", "date", "integer", "number", "string"});
    if (column.wants("jsonPath") && !column.text("jsonPath").starts_with('.') &&
        !column.text("jsonPath").starts_with('['))
      column.invalid("jsonPath", "must be a simple json path starting with . (e.g. .spec.size)");
  });
}

void checkScale(const Inspect& version) {
  Inspect subresources = version.child("subresources");
  if (!subresources.has("scale")) return;
  Inspect scale = subresources.child("scale");
  if (scale.wants("specReplicasPath") && !scale.text("specReplicasPath").starts_with(".spec."))
    scale.invalid("specReplicasPath", "should be a json path under .spec");
  if (scale.wants("statusReplicasPath") &&
      !scale.text("statusReplicasPath").starts_with(".status."))
    scale.invalid("statusReplicasPath", "should be a json path under .status");
  std::string_view selector = scale.text("labelSelectorPath");
  if (!selector.empty() && !selector.starts_with(".spec.") && !selector.starts_with(".status."))
    scale.invalid("labelSelectorPath", "should be a json path under either .spec or .status");
}

bool isSelectable(const Schema& root, std::string_view jsonPath) {
  if (!jsonPath.starts_with('.')) return false;
  std::vector<std::string_view> steps = split(jsonPath.substr(1), '.');
  const Field* field = root.find(steps);
  if (field == nullptr || steps.front() == "metadata") return false;
  Type type = field->schema->type;
  return type == Type::kString || type == Type::kInteger || type == Type::kBoolean;
}

void checkSelectable(const Inspect& version, const Schema& root) {
  if (version.array("selectableFields").size() > kMostSelectable)
    version.errors().tooMany(version.at().child("selectableFields"),
                             version.array("selectableFields").size(), kMostSelectable);
  version.each("selectableFields", [&](const Inspect& field) {
    if (field.wants("jsonPath") && !isSelectable(root, field.text("jsonPath")))
      field.invalid("jsonPath", "must point to a string, integer or boolean field of the schema");
  });
}

void checkSchema(const Inspect& version) {
  Inspect validation = version.child("schema");
  if (!validation.has("openAPIV3Schema"))
    return validation.required("openAPIV3Schema", "schemas are required");
  Inspect source = validation.child("openAPIV3Schema");
  size_t before = version.errors().size();
  auto set = SchemaSet::make();
  CompiledSchema compiled = compileSchema(source.object(), source.at(), *set, version.errors());
  set->finish();
  if (version.errors().size() != before) return;
  validateDefaults(*compiled.root, source.at(), version.errors());
  checkSelectable(version, *compiled.root);
}

void checkVersions(const Inspect& spec) {
  if (!spec.wantsSome("versions", "must have at least one version")) return;
  std::set<std::string_view> names;
  size_t stored = 0;
  spec.each("versions", [&](const Inspect& version) {
    if (version.wants("name")) {
      version.check("name", label1035Trouble(version.text("name")));
      if (!names.insert(version.text("name")).second) version.duplicate("name");
    }
    stored += version.flag("storage") ? 1 : 0;
    if (!version.text("deprecationWarning").empty() && !version.flag("deprecated"))
      version.invalid("deprecationWarning", "can only be set for deprecated versions");
    checkColumns(version);
    checkScale(version);
    checkSchema(version);
  });
  if (stored != 1)
    spec.invalid("versions", "must have exactly one version marked as storage version");
}

void checkConversion(const Inspect& spec) {
  Inspect conversion = spec.child("conversion");
  std::string_view strategy = conversion.text("strategy");
  if (strategy == "Webhook")
    conversion.invalid("strategy",
                       "this server converts between versions by strategy None only (fields are "
                       "kept, apiVersion changes); conversion webhooks are not supported");
  else
    conversion.oneOf("strategy", {"None", "Webhook"});
}

}  // namespace

void validateCrd(const json::Object& crd, FieldErrors& errors) {
  Inspect root(crd, errors);
  Inspect spec = root.child("spec");
  checkGroup(root, spec);
  checkNames(root, spec);
  if (spec.wants("scope")) spec.oneOf("scope", {"Cluster", "Namespaced"});
  if (spec.flag("preserveUnknownFields"))
    spec.invalid("preserveUnknownFields",
                 "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in the "
                 "schema instead");
  checkConversion(spec);
  checkVersions(spec);
}

void validateCrdUpdate(const json::Object& now, const json::Object& old, FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  const json::Object& before = objectIn(old, "spec");
  spec.immutable("group", before);
  spec.immutable("scope", before);
  Inspect names = spec.child("names");
  names.immutable("plural", objectIn(before, "names"));
  names.immutable("kind", objectIn(before, "names"));
  std::set<std::string_view> versions;
  spec.each("versions", [&](const Inspect& version) { versions.insert(version.text("name")); });
  Inspect status = root.child("status");
  status.eachValue("storedVersions", [&](const json::Value& name, const FieldPath& at) {
    if (name.is_string() && !versions.contains(std::string_view(name.get_string())))
      errors.invalid(at, name, "missing from spec.versions");
  });
}

}  // namespace mangrove::apiserver
