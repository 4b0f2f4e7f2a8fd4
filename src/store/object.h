#pragma once
// One version of one object: its JSON bytes as they were written, and beside them what lists and
// watches are filtered by, so that nobody parses an object to find out that it is not wanted.
//
// Immutable and shared: ObjectPtr may be kept and read by any thread, for as long as one likes.
// Everything small lies in one allocation. The bytes of objects that have not changed for a while
// are kept packed, and json() unpacks them: call it once and keep what it gives for as long as it
// is used.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/number/units.h"
#include "base/result.h"
#include "base/text/interned.h"
#include "store/body_packer.h"
#include "store/packed_texts.h"
#include "store/resource.h"
#include "store/revision.h"

namespace mangrove::store {

struct Key {
  Interned resource;
  std::string ns;  // empty for cluster-scoped resources
  std::string name;
};
std::string keyText(const Key& key);  // "pods.v1 default/web"
Key keyOf(std::string_view keyText);  // the way back
// "ns/name", or "name" without a namespace: the order of lists, the same as etcd's key order.
std::string pathOf(std::string_view ns, std::string_view name);

class Object;
using ObjectPtr = std::shared_ptr<const Object>;

class Object {
 public:
  Interned resource() const { return resource_; }
  std::string_view path() const { return std::string_view(packed_).substr(0, pathBytes_); }
  std::string_view ns() const { return path().substr(0, nsBytes_); }
  std::string_view name() const { return path().substr(nsBytes_ == 0 ? 0 : nsBytes_ + 1); }
  Key key() const { return {resource_, std::string(ns()), std::string(name())}; }

  Revision revision() const { return revision_; }
  Revision createRevision() const { return createRevision_; }
  // When a sweep may remove it; nullopt: never.
  std::optional<WallTime> expireAt() const { return expireAt_; }
  std::string_view uid() const;  // metadata.uid, empty without one

  PackedPairs labels() const;  // metadata.labels, sorted by key
  PackedTexts owners() const;  // uids of metadata.ownerReferences
  // The text of a declared field, by its place in ResourceSpec::fields.
  std::string_view field(size_t index) const { return fields()[index]; }
  PackedTexts fields() const;

  // The JSON text as it was written. Recent objects share one copy with everybody who asks.
  Body json() const;
  size_t bytes() const { return bytes_; }

  struct Origin {
    Key key;
    Revision revision;
    Revision createRevision;
    std::optional<WallTime> expireAt;
  };
  // Parses the bytes once. Fails with kInvalid when they are no JSON object.
  static Result<ObjectPtr> make(Origin origin, Body body, const ResourceSpec& spec, json::Doc& doc);
  // For the store: gives the plain bytes up if they can be had smaller. Readers notice nothing.
  void pack(BodyPacker& packer) const;

 private:
  Object() = default;
  PackedTexts section(uint32_t from, uint32_t to) const;

  Interned resource_;
  uint32_t nsBytes_ = 0;
  uint32_t pathBytes_ = 0;
  // packed_: path, uid, labels, owners, fields; each section starts where the one before ends.
  uint32_t labelsAt_ = 0;
  uint32_t ownersAt_ = 0;
  uint32_t fieldsAt_ = 0;
  Revision revision_;
  Revision createRevision_;
  std::optional<WallTime> expireAt_;
  uint32_t bytes_ = 0;
  std::string packed_;
  // Null once packedBody_ holds it, which is written before and never again.
  mutable std::atomic<Body> body_;
  mutable PackedBody packedBody_;
};

// Reads one field of a parsed object as ResourceSpec says; used for objects that are not stored
// yet.
std::string readField(const FieldSpec& field, json::View object);

}  // namespace mangrove::store
