#include "apiserver/core/object.h"

#include <algorithm>

namespace mangrove::apiserver {

json::Object& objectAt(json::Object& parent, std::string_view key) {
  json::Value& value = parent[key];
  if (!value.is_object()) value = json::Object(parent.storage());
  return value.get_object();
}

const json::Object* findObject(const json::Object& parent, std::string_view key) {
  const json::Value* value = parent.if_contains(key);
  return value ? value->if_object() : nullptr;
}

const json::Array* findArray(const json::Object& parent, std::string_view key) {
  const json::Value* value = parent.if_contains(key);
  return value ? value->if_array() : nullptr;
}

std::string_view textAt(const json::Object& parent, std::string_view key) {
  const json::Value* value = parent.if_contains(key);
  return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

json::Object& metadataOf(json::Object& object) {
  return objectAt(object, "metadata");
}

const json::Object& metadataOf(const json::Object& object) {
  static const json::Object kNone;
  const json::Object* metadata = findObject(object, "metadata");
  return metadata ? *metadata : kNone;
}

std::string_view nameOf(const json::Object& object) {
  return textAt(metadataOf(object), "name");
}
std::string_view namespaceOf(const json::Object& object) {
  return textAt(metadataOf(object), "namespace");
}
std::string_view uidOf(const json::Object& object) {
  return textAt(metadataOf(object), "uid");
}

std::string_view resourceVersionOf(const json::Object& object) {
  return textAt(metadataOf(object), "resourceVersion");
}

bool isBeingDeleted(const json::Object& object) {
  return !textAt(metadataOf(object), "deletionTimestamp").empty();
}

bool hasFinalizers(const json::Object& object) {
  const json::Array* finalizers = findArray(metadataOf(object), "finalizers");
  return finalizers && !finalizers->empty();
}

bool hasFinalizer(const json::Object& object, std::string_view finalizer) {
  const json::Array* finalizers = findArray(metadataOf(object), "finalizers");
  return finalizers &&
         std::any_of(finalizers->begin(), finalizers->end(), [&](const json::Value& f) {
           return f.is_string() && std::string_view(f.get_string()) == finalizer;
         });
}

void addFinalizer(json::Object& object, std::string_view finalizer) {
  if (hasFinalizer(object, finalizer)) return;
  json::Value& list = metadataOf(object)["finalizers"];
  if (!list.is_array()) list = json::Array();
  list.get_array().emplace_back(finalizer);
}

void removeFinalizer(json::Object& object, std::string_view finalizer) {
  json::Object& metadata = metadataOf(object);
  json::Value* list = metadata.if_contains("finalizers");
  if (!list || !list->is_array()) return;
  json::Array rest;
  for (const json::Value& f : list->get_array()) {
    if (!f.is_string() || std::string_view(f.get_string()) != finalizer) rest.push_back(f);
  }
  if (rest.empty()) {
    metadata.erase("finalizers");
  } else {
    *list = std::move(rest);
  }
}

std::optional<int64_t> remainingGrace(const json::Object& object) {
  const json::Value* grace = metadataOf(object).if_contains("deletionGracePeriodSeconds");
  if (!isBeingDeleted(object) || !grace || !grace->is_int64()) return std::nullopt;
  return grace->get_int64();
}

bool isKept(const json::Object& object) {
  const json::Object* spec =
      textAt(object, "kind") == "Namespace" ? findObject(object, "spec") : nullptr;
  const json::Array* own = spec ? findArray(*spec, "finalizers") : nullptr;
  return hasFinalizers(object) || (own && !own->empty()) || remainingGrace(object).value_or(0) > 0;
}

void copyMember(json::Object& to, const json::Object& from, std::string_view key) {
  if (const json::Value* value = from.if_contains(key)) {
    to[key] = *value;
  } else {
    to.erase(key);
  }
}

}  // namespace mangrove::apiserver
