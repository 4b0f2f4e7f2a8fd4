#pragma once
// The rules of metadata, the same for all kinds, built-in and custom. Pure; any thread.

#include "apiserver/kinds/catalogue.h"
#include "apiserver/schema/field_error.h"
#include "json/value.h"

namespace mangrove::apiserver {

// Sum of all annotation keys and values, in bytes.
inline constexpr size_t kMostAnnotationBytes = 256 * 1024;

// name (or generateName), namespace, labels, annotations, finalizers, owners.
void validateMeta(const KindInfo& kind, const json::Object& object, FieldErrors& errors);
// What may not change: name, namespace, uid, creationTimestamp and the deletion fields. A member
// the new object leaves out is taken as unchanged: the server fills it in.
void validateMetaUpdate(const json::Object& now, const json::Object& old, FieldErrors& errors);

// A map of labels somewhere else: a template's, a selector's matchLabels.
void validateLabels(const json::Object& labels, const FieldPath& at, FieldErrors& errors);

}  // namespace mangrove::apiserver
