#pragma once
// Changes that happen together or not at all, each with what must be true for it.
//
//   Txn txn;
//   txn.create({pods, "default", "web"}, body);                    // must not exist
//   txn.update({pods, "default", "db"}, body, seen->revision());   // must be unchanged since
//   txn.remove({pods, "default", "old"}, seen->revision(), lastBody);
//   txn.require({namespaces, "", "default"}, ns->revision());      // checked, not written
//
// A value to build and hand to Store::commit. One Txn writes a key at most once.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "store/object.h"

namespace mangrove::store {

// What must be true of a key at the head of the store.
struct Precondition {
  enum class Kind : uint8_t { kNone, kAbsent, kPresent, kAtRevision };
  Kind kind = Kind::kNone;
  Revision revision = {};

  static Precondition none() { return {}; }
  static Precondition absent() { return {Kind::kAbsent, {}}; }
  static Precondition present() { return {Kind::kPresent, {}}; }
  static Precondition at(Revision revision) { return {Kind::kAtRevision, revision}; }
};

struct Op {
  enum class Kind : uint8_t { kPut, kRemove, kRequire };
  Kind kind = Kind::kPut;
  Key key;
  Body body;  // kRemove: what watchers are shown; null: the last version as it was
  Precondition expect;
  std::optional<WallTime> expireAt;
};

class Txn {
 public:
  using Expiry = std::optional<WallTime>;

  Txn& create(Key key, Body body, Expiry expireAt = {}) {
    return put(std::move(key), std::move(body), Precondition::absent(), expireAt);
  }
  Txn& update(Key key, Body body, Revision seen, Expiry expireAt = {}) {
    return put(std::move(key), std::move(body), Precondition::at(seen), expireAt);
  }
  Txn& put(Key key, Body body, Precondition expect, Expiry expireAt = {}) {
    return add({Op::Kind::kPut, std::move(key), std::move(body), expect, expireAt});
  }
  // Removing what is not there is kNotFound. `last` should carry the revision of the removal as its
  // resourceVersion, since watch clients continue from there (Store::nextRevision).
  Txn& remove(Key key, Revision seen, Body last = nullptr) {
    return add({Op::Kind::kRemove, std::move(key), std::move(last), Precondition::at(seen), {}});
  }
  Txn& removeAny(Key key, Body last = nullptr) {
    return add({Op::Kind::kRemove, std::move(key), std::move(last), Precondition::present(), {}});
  }
  Txn& require(Key key, Precondition expect) {
    return add({Op::Kind::kRequire, std::move(key), nullptr, expect, {}});
  }
  Txn& require(Key key, Revision seen) { return require(std::move(key), Precondition::at(seen)); }

  const std::vector<Op>& ops() const { return ops_; }
  size_t writes() const { return writes_; }

 private:
  Txn& add(Op op) {
    writes_ += op.kind == Op::Kind::kRequire ? 0 : 1;
    ops_.push_back(std::move(op));
    return *this;
  }
  std::vector<Op> ops_;
  size_t writes_ = 0;
};

}  // namespace mangrove::store
