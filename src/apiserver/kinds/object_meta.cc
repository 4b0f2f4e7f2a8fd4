#include "apiserver/kinds/object_meta.h"

#include <string>
#include <unordered_set>

#include <fmt/core.h>

#include "apiserver/kinds/inspect.h"
#include "apiserver/kinds/names.h"

namespace mangrove::apiserver {
namespace {

void validateAnnotations(const Inspect& meta) {
  FieldPath at = meta.at().child("annotations");
  size_t bytes = 0;
  for (const auto& entry : meta.map("annotations")) {
    bytes += entry.key().size();
    if (entry.value().is_string()) bytes += entry.value().get_string().size();
    // Keys are like those of labels, but upper case in the prefix is let through.
    std::string key(entry.key());
    for (char& c : key)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    std::string trouble = qualifiedTrouble(key);
    if (!trouble.empty()) meta.errors().invalid(at, json::Value(entry.key()), trouble);
  }
  if (bytes > kMostAnnotationBytes) meta.errors().tooLong(at, kMostAnnotationBytes);
}

void validateOwner(const Inspect& owner) {
  if (owner.text("apiVersion").empty()) owner.invalid("apiVersion", "version must not be empty");
  for (std::string_view key : {"kind", "name", "uid"})
    if (owner.text(key).empty()) owner.invalid(key, fmt::format("{} must not be empty", key));
}

void validateOwners(const Inspect& meta) {
  size_t controllers = 0;
  meta.each("ownerReferences", [&](const Inspect& owner) {
    validateOwner(owner);
    controllers += owner.flag("controller") ? 1 : 0;
  });
  if (controllers > 1)
    meta.invalid("ownerReferences", "only one reference can have controller set to true");
}

// Standard finalizers have no prefix; everybody else's must, so that they do not meet. Extensions
// have their own tradition.
void validateFinalizers(const KindInfo& kind, const Inspect& meta) {
  const bool isFree = kind.isCustom || kind.group == "apiextensions.k8s.io";
  meta.eachValue("finalizers", [&](const json::Value& value, const FieldPath& at) {
    std::string_view name = value.is_string() ? std::string_view(value.get_string()) : "";
    bool isStandard = name == "orphan" || name == "foregroundDeletion" || name == "kubernetes";
    std::string trouble = isStandard ? "" : qualifiedTrouble(name);
    if (trouble.empty() && !isStandard && !isFree && name.find('/') == std::string_view::npos)
      trouble = "name is neither a standard finalizer name nor is it fully qualified";
    if (!trouble.empty()) meta.errors().invalid(at, value, trouble);
  });
}

void validateName(const KindInfo& kind, const Inspect& meta) {
  std::string_view name = meta.text("name");
  std::string_view prefix = meta.text("generateName");
  if (!prefix.empty()) meta.check("generateName", prefixTrouble(kind.nameRule, prefix));
  if (name.empty()) {
    if (prefix.empty()) meta.required("name", "name or generateName is required");
    return;
  }
  meta.check("name", nameTrouble(kind.nameRule, name));
}

void validateNamespace(const KindInfo& kind, const Inspect& meta) {
  std::string_view ns = meta.text("namespace");
  if (!kind.namespaced) {
    if (!ns.empty()) meta.forbidden("namespace", "not allowed on this type");
    return;
  }
  if (meta.wants("namespace")) meta.check("namespace", labelTrouble(ns));
}

}  // namespace

namespace {

// Finalizers may only go once deletion has begun: a new one could hold the object for ever.
void refuseNewFinalizers(const Inspect& meta, const json::Object& before) {
  std::unordered_set<std::string> known;
  for (const json::Value& one : arrayIn(before, "finalizers")) known.insert(json::write(one));
  std::string fresh;
  meta.eachValue("finalizers", [&](const json::Value& value, const FieldPath&) {
    if (std::string text = json::write(value); !known.contains(text))
      fresh += (fresh.empty() ? "" : ", ") + text;
  });
  if (fresh.empty()) return;
  meta.forbidden("finalizers",
                 fmt::format("no new finalizers can be added if the object is being deleted, found "
                             "new finalizers []string{{{}}}",
                             fresh));
}

}  // namespace

void validateLabels(const json::Object& labels, const FieldPath& at, FieldErrors& errors) {
  for (const auto& entry : labels) {
    if (std::string trouble = qualifiedTrouble(entry.key()); !trouble.empty())
      errors.invalid(at, json::Value(entry.key()), trouble);
    if (!entry.value().is_string()) continue;
    if (std::string trouble = labelValueTrouble(entry.value().get_string()); !trouble.empty())
      errors.invalid(at, entry.value(), trouble);
  }
}

void validateMeta(const KindInfo& kind, const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect meta = root.child("metadata");
  validateName(kind, meta);
  validateNamespace(kind, meta);
  meta.notNegative("generation");
  validateLabels(meta.map("labels"), meta.at().child("labels"), errors);
  validateAnnotations(meta);
  validateFinalizers(kind, meta);
  validateOwners(meta);
}

void validateMetaUpdate(const json::Object& now, const json::Object& old, FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect meta = root.child("metadata");
  const json::Object& before = objectIn(old, "metadata");
  for (std::string_view key : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                               "deletionGracePeriodSeconds"})
    if (meta.has(key)) meta.immutable(key, before);
  if (before.contains("deletionTimestamp")) refuseNewFinalizers(meta, before);
}

}  // namespace mangrove::apiserver
