#include "apiserver/schema/pruning.h"

#include <array>
#include <unordered_set>

#include "apiserver/schema/field_path.h"

namespace mangrove::apiserver {
namespace {

using json::Value;

class Pruner {
 public:
  void visit(const Schema& schema, Value& value, const FieldPath& at) {
    if (value.is_object()) object(schema, value.get_object(), at);
    if (value.is_array() && schema.items != nullptr) {
      size_t index = 0;
      for (Value& element : value.get_array()) visit(*schema.items, element, at.at(index++));
    }
  }
  std::vector<std::string> take() { return std::move(gone_); }

 private:
  void object(const Schema& schema, json::Object& object, const FieldPath& at) {
    if (schema.type == Type::kAny) return;
    for (auto it = object.begin(); it != object.end();) {
      FieldPath here = at.child(it->key());
      const Schema* inside = schema.member(it->key());
      if (inside != nullptr) visit(*inside, it->value(), here);
      if (inside != nullptr || schema.preserveUnknown) {
        ++it;
        continue;
      }
      gone_.push_back(here.text());
      it = object.stable_erase(it);
    }
  }

  std::vector<std::string> gone_;
};

// The names of one object. Nearly all have a handful, which are compared faster than hashed.
class KeySet {
 public:
  explicit KeySet(size_t size) : isSmall_(size <= kFew) {}
  bool insert(std::string_view key) {
    if (!isSmall_) return many_.insert(key).second;
    for (size_t i = 0; i < count_; ++i)
      if (few_[i] == key) return false;
    few_[count_++] = key;
    return true;
  }

 private:
  static constexpr size_t kFew = 24;
  const bool isSmall_;
  size_t count_ = 0;
  std::array<std::string_view, kFew> few_;
  std::unordered_set<std::string_view> many_;
};

class DuplicateFinder {
 public:
  void visit(json::View value, const FieldPath& at) {
    if (value.isArray()) {
      size_t index = 0;
      for (json::View element : value.elements()) visit(element, at.at(index++));
    }
    if (value.isObject()) object(value, at);
  }
  std::vector<std::string> found;

 private:
  void object(json::View value, const FieldPath& at) {
    KeySet keys(value.size());
    for (auto [key, inside] : value.members()) {
      if (found.size() >= kMostDuplicates) return;
      FieldPath here = at.child(key);
      if (!keys.insert(key)) found.push_back(here.text());
      visit(inside, here);
    }
  }
};

}  // namespace

std::vector<std::string> prune(const Schema& schema, Value& value) {
  Pruner pruner;
  pruner.visit(schema, value, FieldPath());
  return pruner.take();
}

std::vector<std::string> unknownFields(const Schema& schema, const Value& value) {
  Value copy = value;
  return prune(schema, copy);
}

std::vector<std::string> duplicateFields(json::View object) {
  DuplicateFinder finder;
  finder.visit(object, FieldPath());
  return std::move(finder.found);
}

}  // namespace mangrove::apiserver
