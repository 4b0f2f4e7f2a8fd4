#pragma once
// What every Kubernetes object carries, and how objects are named and referred to.
//
//   struct Node { ObjectMeta meta; … };
//   node.meta.name.view(), node.meta.labels.get(label::kZone), node.meta.isDeleting()
//   NamespacedName key = keyOf(pod.meta);            // "ns/name", hashable
//
// Values; const access from any thread.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object/shared.h"
#include "api/select/labels.h"
#include "api/wire/decode.h"
#include "api/wire/text.h"

namespace mangrove::api {

struct OwnerReference {
  Interned apiVersion;
  Interned kind;
  Text name;
  Uid uid;
  bool controller = false;
  bool blockOwnerDeletion = false;
  bool operator==(const OwnerReference&) const = default;
};
bool read(const In& in, OwnerReference& out);

struct ObjectMeta {
  Text name;
  Interned ns;  // "" for cluster-scoped objects
  Uid uid;
  std::string resourceVersion;  // opaque; short enough to need no heap
  int64_t generation = 0;
  WallTime creationTimestamp = kZeroTime;
  WallTime deletionTimestamp = kZeroTime;
  int32_t deletionGracePeriodSeconds = 0;  // meaningful while deleting
  Labels labels;
  Annotations annotations;
  Shared<std::vector<OwnerReference>> owners;  // siblings share one list
  std::vector<Interned> finalizers;
  Interned generateName;

  bool isDeleting() const { return deletionTimestamp != kZeroTime; }
  // The owner with controller=true; nullptr when there is none.
  const OwnerReference* controller() const;
};
bool read(const In& in, ObjectMeta& out);

// What a cache is keyed by.
struct NamespacedName {
  std::string ns;  // "" for cluster-scoped objects
  std::string name;

  std::string text() const;  // "ns/name", or "name" without a namespace
  static NamespacedName parse(std::string_view text);
  auto operator<=>(const NamespacedName&) const = default;
};
NamespacedName keyOf(const ObjectMeta& meta);

// core/v1 ObjectReference: a pointer from one object to another.
struct ObjectRef {
  std::string apiVersion;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string resourceVersion;
  std::string fieldPath;
  bool operator==(const ObjectRef&) const = default;
};
bool read(const In& in, ObjectRef& out);

// The head of any object, without knowing its kind.
struct ObjectHead {
  std::string apiVersion;
  std::string kind;
  ObjectMeta meta;
};
bool read(const In& in, ObjectHead& out);

}  // namespace mangrove::api

template <>
struct std::hash<mangrove::api::NamespacedName> {
  size_t operator()(const mangrove::api::NamespacedName& key) const noexcept {
    return std::hash<std::string>()(key.name) * 31 + std::hash<std::string>()(key.ns);
  }
};
