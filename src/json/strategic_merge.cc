#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "json/erase.h"
#include "json/strategic_content.h"
#include "json/strategic_list.h"
#include "json/strategic_patch.h"

namespace mangrove::json {
namespace strategic {
namespace {

template <class Predicate>
void eraseIf(Array& list, Predicate gone) {
  list.erase(std::remove_if(list.begin(), list.end(), gone), list.end());
}

void assign(Object& target, std::string_view key, std::optional<Value> value) {
  if (value)
    target.insert_or_assign(key, std::move(*value));
  else if (auto found = target.find(key); found != target.end())
    target.stable_erase(found);
}

// "$setElementOrder/finalizers" → "finalizers".
Result<std::string_view> fieldOf(std::string_view key, std::string_view prefix, const Path& at) {
  if (key.size() < prefix.size() + 2 || key[prefix.size()] != '/')
    return invalid("{}: '{}' names no list; want '{}/<field>'", at.text(), key, prefix);
  return key.substr(prefix.size() + 1);
}

Failure wantList(std::string_view what, const Value& value, const Path& at) {
  return invalid("{}: '{}' is {}; want a list", at.text(), what, write(value));
}

constexpr MergeField kUnlisted{};  // a field without a row in the tables

const MergeField& fieldRule(const MergeSchema* schema, std::string_view name) {
  const MergeField* found = schema == nullptr ? nullptr : schema->find(name);
  return found == nullptr ? kUnlisted : *found;
}

class Merger {
 public:
  Result<void> object(Object& target, const Object& patch, const MergeSchema* schema,
                      const Path& at) {
    if (const Value* directive = patch.if_contains(kPatch))
      return whole(target, patch, *directive, at);
    if (const Value* keys = patch.if_contains(kRetainKeys))
      if (auto done = retain(target, patch, *keys, at); !done) return done;
    std::unordered_set<std::string_view> ordered;  // fields that an order directive has dealt with
    for (const auto& member : patch) {
      if (!member.key().starts_with(kOrderPrefix)) continue;
      auto field = orderedField(target, patch, member, schema, at);
      if (!field) return pass(field.error());
      ordered.insert(*field);
    }
    for (const auto& member : patch) {
      if (ordered.contains(member.key())) continue;
      if (auto done = this->member(target, member, schema, at); !done) return done;
    }
    eraseNulled(target, patch);
    return {};
  }

 private:
  using Pair = boost::json::key_value_pair;

  static Result<void> whole(Object& target, const Object& patch, const Value& directive,
                            const Path& at) {
    if (says(directive, "delete")) {
      target.clear();
      return {};
    }
    if (!says(directive, "replace"))
      return invalid("{}: \"$patch\": {} is not supported here; want \"replace\" or \"delete\"",
                     at.text(), write(directive));
    target = replacing(patch).get_object();
    return {};
  }

  static Result<void> retain(Object& target, const Object& patch, const Value& keys,
                             const Path& at) {
    const Array* list = keys.if_array();
    if (list == nullptr) return wantList(kRetainKeys, keys, at);
    std::unordered_set<std::string_view> kept;
    for (const Value& one : *list)
      if (one.is_string()) kept.insert(std::string_view(one.get_string()));
    const auto listed = [&](std::string_view key) { return kept.contains(key); };
    for (const auto& member : patch)
      if (!member.value().is_null() && !isDirective(member.key()) && !listed(member.key()))
        return invalid("{}: '{}' is set but not in $retainKeys", at.text(), member.key());
    Object gone;
    for (const auto& member : target)
      if (!listed(member.key())) gone.emplace(member.key(), nullptr);
    eraseNulled(target, gone);
    return {};
  }

  Result<void> member(Object& target, const Pair& member, const MergeSchema* schema,
                      const Path& at) {
    const std::string_view key = member.key();
    if (key == kRetainKeys || key.starts_with(kOrderPrefix)) return {};
    if (key.starts_with(kDeletePrefix)) return deletion(target, member, at);
    if (member.value().is_null()) return {};  // all of those go at once
    Value* current = target.if_contains(key);
    const Value& value = member.value();
    const MergeField& rule = fieldRule(schema, key);
    const Path here{&at, key};
    if (current != nullptr && current->is_object() && value.is_object()) {
      if (rule.strategy != Strategy::kReplace)
        return object(current->get_object(), value.get_object(), rule.inside, here);
      *current = replacing(value);
    } else if (current != nullptr && current->is_array() && value.is_array()) {
      return list(current->get_array(), value.get_array(), rule, here);
    } else {
      assign(target, key, fresh(value));
    }
    return {};
  }

  static Result<void> deletion(Object& target, const Pair& member, const Path& at) {
    auto field = fieldOf(member.key(), kDeletePrefix, at);
    if (!field) return pass(field.error());
    const Array* gone = member.value().if_array();
    if (gone == nullptr) return wantList(member.key(), member.value(), at);
    Value* current = target.if_contains(*field);
    Array* list = current == nullptr ? nullptr : current->if_array();
    if (list == nullptr) return {};
    auto kind = elementsOf(*list, *gone, "", Path{&at, *field});
    if (!kind) return pass(kind.error());
    const Order deleted(*gone, "");
    eraseIf(*list, [&](const Value& v) { return deleted.indexOf(identity(v, "")) >= 0; });
    return {};
  }

  // Merges one list and puts it into the order the patch asks for; returns the name of the list.
  Result<std::string_view> orderedField(Object& target, const Object& patch, const Pair& directive,
                                        const MergeSchema* schema, const Path& at) {
    auto name = fieldOf(directive.key(), kOrderPrefix, at);
    if (!name) return pass(name.error());
    const Array* order = directive.value().if_array();
    if (order == nullptr) return wantList(directive.key(), directive.value(), at);
    const Path here{&at, *name};
    const MergeField& rule = fieldRule(schema, *name);
    const Value* change = patch.if_contains(*name);
    if (change != nullptr && !change->is_array()) return wantList(*name, *change, at);
    const Value* current = target.if_contains(*name);
    if (current != nullptr && !current->is_array()) return wantList(*name, *current, at);
    if (current == nullptr && change == nullptr) return *name;
    auto merged = reordered(current, change, *order, rule, here);
    if (!merged) return pass(merged.error());
    target.insert_or_assign(*name, std::move(*merged));
    return *name;
  }

  Result<Array> reordered(const Value* current, const Value* change, const Array& order,
                          const MergeField& rule, const Path& at) {
    const Array server = current == nullptr ? Array() : current->get_array();
    if (auto good = checkOrder(change, order, rule.mergeKey, at); !good) return pass(good.error());
    Array merged = server;
    if (current == nullptr)
      merged = content(*change, Marked::kLeaveOut).get_array();
    else if (change != nullptr)
      if (auto done = list(merged, change->get_array(), rule, at); !done) return pass(done.error());
    if (auto kind = elementsOf(server, merged, rule.mergeKey, at); !kind) return pass(kind.error());
    if (!rule.mergeKey.empty())
      for (const Array* checked : {&server, &std::as_const(merged)})
        if (auto keys = requireKeys(*checked, rule.mergeKey, at); !keys) return pass(keys.error());
    const Order remembered(serverOrder(server, merged, change, rule.mergeKey), rule.mergeKey);
    return arranged(std::move(merged), Order(order, rule.mergeKey), remembered, rule.mergeKey);
  }

  // The order the server had, as API servers see it at this point: deleted elements are gone, and
  // new elements have moved into the room they left at the end. Without deletions new elements have
  // no place in it.
  static Array serverOrder(const Array& server, const Array& merged, const Value* change,
                           std::string_view mergeKey) {
    if (change == nullptr) return server;
    const Order kept(merged, mergeKey), before(server, mergeKey);
    Array out;
    for (const Value& element : server)
      if (kept.indexOf(identity(element, mergeKey)) >= 0) out.push_back(element);
    for (const Value& element : change->get_array())
      if (out.size() < server.size() && !isMarked(element) &&
          before.indexOf(identity(element, mergeKey)) < 0)
        out.push_back(element);
    return out;
  }

  // The elements of the patch must appear in the order list, in the same sequence.
  static Result<void> checkOrder(const Value* change, const Array& order, std::string_view mergeKey,
                                 const Path& at) {
    const Array none;
    const Array& patch = change == nullptr ? none : change->get_array();
    if (auto kind = elementsOf(order, none, mergeKey, at); !kind) return pass(kind.error());
    if (!mergeKey.empty())
      if (auto keys = requireKeys(order, mergeKey, at); !keys) return keys;
    if (order.empty()) return {};
    size_t place = 0;
    for (const Value& element : patch) {
      if (isMarked(element)) continue;
      if (auto keys = mergeKey.empty() ? Result<void>() : requireKeys(Array{element}, mergeKey, at);
          !keys)
        return keys;
      const std::string wanted = identity(element, mergeKey);
      while (place < order.size() && identity(order[place], mergeKey) != wanted) ++place;
      if (place++ == order.size())
        return invalid(
            "{}: the order of the patch does not match its $setElementOrder list ({} is not there "
            "or too early)",
            at.text(), write(element));
    }
    return {};
  }

  Result<void> list(Array& target, const Array& patch, const MergeField& rule, const Path& at) {
    if (rule.strategy != Strategy::kMerge) {
      target = replacing(patch).get_array();
      return {};
    }
    auto kind = elementsOf(target, patch, rule.mergeKey, at);
    if (!kind) return pass(kind.error());
    if (*kind == Elements::kObjects) return objectList(target, patch, rule, at);
    if (*kind == Elements::kScalars) scalarList(target, patch);
    return {};
  }

  static void scalarList(Array& target, const Array& patch) {
    const Order server(target, ""), wanted(patch, "");
    Array both = target;
    both.insert(both.end(), patch.begin(), patch.end());
    Array merged;
    const Order first(both, "");
    for (size_t i = 0; i < both.size(); ++i)
      if (first.indexOf(identity(both[i], "")) == static_cast<long>(i)) merged.push_back(both[i]);
    target = arranged(std::move(merged), wanted, server, "");
  }

  Result<void> objectList(Array& target, const Array& patch, const MergeField& rule,
                          const Path& at) {
    Array changes;
    bool replace = false;
    std::unordered_set<std::string> gone;
    for (const Value& element : patch) {
      const Value* directive = element.get_object().if_contains(kPatch);
      if (directive == nullptr) {
        changes.push_back(element);
      } else if (says(*directive, "replace")) {
        replace = true;
      } else if (auto key = deletedKey(element, *directive, rule.mergeKey, at); key) {
        gone.insert(std::move(*key));
      } else {
        return pass(key.error());
      }
    }
    eraseElements(target, gone, rule.mergeKey);
    if (auto keys = requireKeys(changes, rule.mergeKey, at); !keys) return keys;
    if (replace) {
      target = replacing(changes).get_array();
      const Order own(target, rule.mergeKey);
      target = arranged(std::move(target), Order({}, rule.mergeKey), own, rule.mergeKey);
      return {};
    }
    if (auto keys = requireKeys(target, rule.mergeKey, at); !keys) return keys;
    return mergeElements(target, changes, rule, at);
  }

  // The key of an element that the patch deletes.
  static Result<std::string> deletedKey(const Value& element, const Value& directive,
                                        std::string_view mergeKey, const Path& at) {
    if (!says(directive, "delete"))
      return invalid(
          "{}: \"$patch\": {} is not supported in a list; want \"replace\" or \"delete\"",
          at.text(), write(directive));
    const Value* gone = element.get_object().if_contains(mergeKey);
    if (gone == nullptr || gone->is_null())
      return invalid("{}: an element to delete has no merge key '{}'", at.text(), mergeKey);
    return identity(*gone, "");
  }

  static void eraseElements(Array& target, const std::unordered_set<std::string>& gone,
                            std::string_view mergeKey) {
    if (gone.empty()) return;
    eraseIf(target, [&](const Value& candidate) {
      const Value* key = candidate.get_object().if_contains(mergeKey);
      return key != nullptr && gone.contains(identity(*key, ""));
    });
  }

  Result<void> mergeElements(Array& target, const Array& changes, const MergeField& rule,
                             const Path& at) {
    const Order server(target, rule.mergeKey);
    std::unordered_map<std::string, size_t> places;
    size_t index = 0;
    for (const Value& element : target) places.emplace(identity(element, rule.mergeKey), index++);
    Array merged = target;
    for (const Value& change : changes) {
      const auto [place, added] = places.emplace(identity(change, rule.mergeKey), merged.size());
      if (added) {
        merged.push_back(replacing(change));
        continue;
      }
      const std::string key = identity(change, rule.mergeKey).substr(1);
      auto done = object(merged[place->second].get_object(), change.get_object(), rule.inside,
                         Path{&at, key});
      if (!done) return done;
    }
    if (auto keys = requireKeys(merged, rule.mergeKey, at); !keys) return keys;
    target = arranged(std::move(merged), Order(changes, rule.mergeKey), server, rule.mergeKey);
    return {};
  }
};

}  // namespace
}  // namespace strategic

Result<void> applyStrategicPatch(Value& document, const Value& patch, const MergeSchema& schema) {
  if (!patch.is_object())
    return invalid("a strategic merge patch is an object, not {}", write(patch));
  if (!document.is_object())
    return invalid("a strategic merge patch applies to an object, not to {}", write(document));
  Value patched = document;
  auto done = strategic::Merger().object(patched.get_object(), patch.get_object(), &schema, {});
  if (!done) return done;
  document = std::move(patched);
  return {};
}

}  // namespace mangrove::json
