#pragma once
// Labels and annotations of an object: flat, sorted by key, a few words per entry.
//
//   Labels labels{{"app", "web"}, {"tier", "front"}};
//   if (labels.has(label::kQosClass)) …
//   labels.get(label::kQosClass)                    // optional<string_view>
//   labels.find(key)                                // const Interned*; no text is compared
//
// Label keys and values are interned (they recur, and selectors compare them as numbers).
// Annotation keys are interned, values are not: they may be new in every object. Values; const
// access from any thread.

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "api/wire/decode.h"
#include "api/wire/text.h"

namespace mangrove::api {

template <class V>
class FlatMap {
 public:
  struct Entry {
    Interned key;
    V value;
    bool operator==(const Entry&) const = default;
  };
  FlatMap() = default;
  FlatMap(std::initializer_list<std::pair<std::string_view, std::string_view>> entries) {
    for (auto [key, value] : entries) set(key, value);
  }

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  // nullptr when there is none. By handle it is a scan over integers, the fastest for so few.
  const V* find(Interned key) const {
    for (const Entry& entry : entries_)
      if (entry.key == key) return &entry.value;
    return nullptr;
  }
  std::optional<std::string_view> get(std::string_view key) const {
    auto at = lowerBound(key);
    if (at == entries_.end() || at->key.view() != key) return std::nullopt;
    return at->value.view();
  }
  bool has(std::string_view key) const { return get(key).has_value(); }

  void set(std::string_view key, std::string_view value) {
    auto at = lowerBound(key);
    if (at != entries_.end() && at->key.view() == key)
      entries_[at - entries_.begin()].value = V(value);
    else
      entries_.insert(at, Entry{Interned(key), V(value)});
  }
  // The same with handles made already; cheapest when keys come in order, as servers send them.
  void add(Interned key, V value) {
    if (entries_.empty() || entries_.back().key < key)
      entries_.push_back(Entry{key, std::move(value)});
    else
      set(key.view(), value.view());
  }
  void erase(std::string_view key) {
    auto at = lowerBound(key);
    if (at != entries_.end() && at->key.view() == key) entries_.erase(at);
  }
  void reserve(size_t size) { entries_.reserve(size); }

  bool operator==(const FlatMap&) const = default;

 private:
  auto lowerBound(std::string_view key) const {
    return std::lower_bound(entries_.begin(), entries_.end(), key,
                            [](const Entry& e, std::string_view k) { return e.key.view() < k; });
  }
  std::vector<Entry> entries_;
};

using Labels = FlatMap<Interned>;
using Annotations = FlatMap<Text>;

bool read(const In& in, Labels& out);
// kubectl's copy of the whole manifest (last-applied-configuration) is not kept: nothing of ours
// reads it and it is larger than everything else together.
bool read(const In& in, Annotations& out);

}  // namespace mangrove::api
