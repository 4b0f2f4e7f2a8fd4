#include "json/merge_patch.h"

#include <optional>

#include "json/erase.h"
#include "json/pointer.h"

namespace mangrove::json {
namespace {

Failure inexpressible(const Pointer& at) {
  return fail(Code::kUnsupported, "{}: a merge patch cannot set a member to null", at.text());
}

// Where an object has a null member that merging would drop; arrays are taken as they are.
std::optional<Pointer> firstNull(const Value& value, const Pointer& at) {
  const Object* object = value.if_object();
  if (object == nullptr) return std::nullopt;
  for (const auto& member : *object) {
    if (member.value().is_null()) return at.child(member.key());
    if (auto inside = firstNull(member.value(), at.child(member.key()))) return inside;
  }
  return std::nullopt;
}

Result<Value> replacement(const Value& to, const Pointer& at) {
  if (auto null = firstNull(to, at)) return inexpressible(*null);
  return to;
}

Result<Object> objectDiff(const Object& from, const Object& to, const Pointer& at);

// nullopt: no change.
Result<std::optional<Value>> memberDiff(const Value* from, const Value& to, const Pointer& at) {
  if (from != nullptr && equal(*from, to)) return std::nullopt;
  if (to.is_null()) return inexpressible(at);
  if (from != nullptr && from->is_object() && to.is_object()) {
    auto inside = objectDiff(from->get_object(), to.get_object(), at);
    if (!inside) return pass(inside.error());
    return Value(std::move(*inside));
  }
  auto whole = replacement(to, at);
  if (!whole) return pass(whole.error());
  return std::move(*whole);
}

Result<Object> objectDiff(const Object& from, const Object& to, const Pointer& at) {
  Object patch;
  for (const auto& member : from)
    if (!to.contains(member.key())) patch.emplace(member.key(), nullptr);
  for (const auto& member : to) {
    auto change =
        memberDiff(from.if_contains(member.key()), member.value(), at.child(member.key()));
    if (!change) return pass(change.error());
    if (*change) patch.emplace(member.key(), std::move(**change));
  }
  return patch;
}

}  // namespace

void applyMergePatch(Value& document, const Value& patch) {
  if (!patch.is_object()) {
    document = patch;
    return;
  }
  if (!document.is_object()) document = Object();
  Object& target = document.get_object();
  for (const auto& member : patch.get_object()) {
    if (!member.value().is_null()) applyMergePatch(target[member.key()], member.value());
  }
  eraseNulled(target, patch.get_object());
}

Result<Value> mergeDiff(const Value& from, const Value& to) {
  if (!from.is_object() || !to.is_object()) return replacement(to, {});
  auto patch = objectDiff(from.get_object(), to.get_object(), {});
  if (!patch) return pass(patch.error());
  return Value(std::move(*patch));
}

}  // namespace mangrove::json
