#pragma once
// The few members every Kubernetes object has, on the mutable JSON value. Missing members read as
// "" or nullptr; pure.

#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"

namespace mangrove::apiserver {

// The object at `key`, made when it is missing or of another type.
json::Object& objectAt(json::Object& parent, std::string_view key);
const json::Object* findObject(const json::Object& parent, std::string_view key);
const json::Array* findArray(const json::Object& parent, std::string_view key);
std::string_view textAt(const json::Object& parent, std::string_view key);

json::Object& metadataOf(json::Object& object);
// An empty object when there is none.
const json::Object& metadataOf(const json::Object& object);

std::string_view nameOf(const json::Object& object);
std::string_view namespaceOf(const json::Object& object);
std::string_view uidOf(const json::Object& object);
std::string_view resourceVersionOf(const json::Object& object);
bool isBeingDeleted(const json::Object& object);
bool hasFinalizers(const json::Object& object);
bool hasFinalizer(const json::Object& object, std::string_view finalizer);
void addFinalizer(json::Object& object, std::string_view finalizer);
void removeFinalizer(json::Object& object, std::string_view finalizer);

// How long whoever runs a pod may still take; nullopt when it is not being deleted.
std::optional<int64_t> remainingGrace(const json::Object& object);
// Being deleted, but not free to go: finalizers, a namespace's own finalizers, or a node that still
// runs it.
bool isKept(const json::Object& object);

// Puts `from[key]` into `to`, or removes it there when `from` has none.
void copyMember(json::Object& to, const json::Object& from, std::string_view key);

}  // namespace mangrove::apiserver
