#include <algorithm>
#include <string>
#include <vector>

#include "json/strategic_content.h"
#include "json/strategic_list.h"
#include "json/strategic_patch.h"

namespace mangrove::json {
namespace strategic {
namespace {

Result<Object> objectDiff(const Object& from, const Object& to, const MergeSchema* schema,
                          bool retainKeys, const Path& at);

Array keysSet(const Object& object) {
  std::vector<std::string_view> keys;
  for (const auto& member : object)
    if (!member.value().is_null()) keys.push_back(member.key());
  std::sort(keys.begin(), keys.end());
  return Array(keys.begin(), keys.end());
}

std::string directive(std::string_view prefix, std::string_view field) {
  return std::string(prefix).append("/").append(field);
}

// One merged list; writes its members into the patch of the object around it.
class ListDiff {
 public:
  ListDiff(const Array& from, const Array& to, const MergeField& rule, const Path& at)
      : from_(from), to_(to), rule_(rule), at_(at) {}

  Result<void> into(Object& patch) {
    auto kind = elementsOf(from_, to_, rule_.mergeKey, at_);
    if (!kind) return pass(kind.error());
    if (*kind == Elements::kScalars) {
      scalars(patch);
      return {};
    }
    for (const Array* list : {&from_, &to_})
      if (auto keys = requireKeys(*list, rule_.mergeKey, at_); !keys) return keys;
    return objects(patch);
  }

 private:
  void scalars(Object& patch) const {
    const Order before(from_, ""), after(to_, "");
    Array added, deleted;
    for (const Value& value : to_)
      if (before.indexOf(identity(value, "")) < 0) added.push_back(value);
    for (const Value& value : from_)
      if (after.indexOf(identity(value, "")) < 0) deleted.push_back(value);
    emit(patch, std::move(added), to_);
    if (!deleted.empty()) patch.emplace(directive(kDeletePrefix, rule_.name), std::move(deleted));
  }

  Result<void> objects(Object& patch) const {
    const Order before(from_, rule_.mergeKey), after(to_, rule_.mergeKey);
    if (before.hasRepeats() || after.hasRepeats()) {
      replaceAll(patch);
      return {};
    }
    if (from_.empty()) {
      patch.insert_or_assign(rule_.name, to_);
      return {};
    }
    Array changes, order;
    for (const Value& element : to_) {
      const long old = before.indexOf(identity(element, rule_.mergeKey));
      auto change = old < 0 ? Result<Object>(element.get_object())
                            : elementDiff(from_[static_cast<size_t>(old)], element);
      if (!change) return pass(change.error());
      if (!change->empty()) changes.push_back(std::move(*change));
      order.push_back(Object{{rule_.mergeKey, element.at(rule_.mergeKey)}});
    }
    for (const Value& element : from_)
      if (after.indexOf(identity(element, rule_.mergeKey)) < 0)
        changes.push_back(Object{{kPatch, "delete"}, {rule_.mergeKey, element.at(rule_.mergeKey)}});
    emit(patch, std::move(changes), std::move(order));
    return {};
  }

  Result<Object> elementDiff(const Value& from, const Value& to) const {
    auto change =
        objectDiff(from.get_object(), to.get_object(), rule_.inside, rule_.retainKeys, at_);
    if (!change || change->empty()) return change;
    change->insert_or_assign(rule_.mergeKey, to.at(rule_.mergeKey));
    return change;
  }

  void replaceAll(Object& patch) const {
    Array all{Object{{kPatch, "replace"}}};
    all.insert(all.end(), to_.begin(), to_.end());
    patch.insert_or_assign(rule_.name, std::move(all));
  }

  // The order is sent with every change: without it an added element would land at the end.
  void emit(Object& patch, Array changes, Array order) const {
    if (!order.empty()) patch.emplace(directive(kOrderPrefix, rule_.name), std::move(order));
    if (!changes.empty()) patch.insert_or_assign(rule_.name, std::move(changes));
  }

  const Array& from_;
  const Array& to_;
  const MergeField& rule_;
  const Path& at_;
};

Result<void> memberDiff(Object& patch, std::string_view key, const Value& from, const Value& to,
                        const MergeSchema* schema, const Path& at) {
  if (equal(from, to)) return {};
  const MergeField* rule = schema == nullptr ? nullptr : schema->find(key);
  const Path here{&at, key};
  if (rule != nullptr && rule->strategy == Strategy::kMerge && from.is_array() && to.is_array())
    return ListDiff(from.get_array(), to.get_array(), *rule, here).into(patch);
  if (!from.is_object() || !to.is_object() ||
      (rule != nullptr && rule->strategy == Strategy::kReplace)) {
    patch.insert_or_assign(key, to);
    return {};
  }
  auto inside =
      objectDiff(from.get_object(), to.get_object(), rule == nullptr ? nullptr : rule->inside,
                 rule != nullptr && rule->retainKeys, here);
  if (!inside) return pass(inside.error());
  if (!inside->empty()) patch.insert_or_assign(key, std::move(*inside));
  return {};
}

Result<Object> objectDiff(const Object& from, const Object& to, const MergeSchema* schema,
                          bool retainKeys, const Path& at) {
  Object patch;
  for (const auto& member : from)
    if (!to.contains(member.key())) patch.emplace(member.key(), nullptr);
  for (const auto& member : to) {
    const Value* before = from.if_contains(member.key());
    if (before == nullptr) {
      patch.insert_or_assign(member.key(), member.value());
      continue;
    }
    auto done = memberDiff(patch, member.key(), *before, member.value(), schema, at);
    if (!done) return pass(done.error());
  }
  if (retainKeys && !patch.empty()) patch.emplace(kRetainKeys, keysSet(to));
  return patch;
}

}  // namespace
}  // namespace strategic

Result<Value> strategicDiff(const Value& from, const Value& to, const MergeSchema& schema) {
  if (!from.is_object() || !to.is_object())
    return invalid("a strategic merge patch describes objects only");
  auto patch = strategic::objectDiff(from.get_object(), to.get_object(), &schema, false, {});
  if (!patch) return pass(patch.error());
  return Value(std::move(*patch));
}

}  // namespace mangrove::json
