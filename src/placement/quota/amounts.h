#pragma once
// Amounts of resources as quotas count them: whole numbers, cpu in thousandths and everything else
// in units (rounded up), by name. A name that is missing means something else than zero where the
// list is a limit: it does not limit.
//
//   Amounts used = amountsOf(pod requests);
//   used.add(other);  used.subtract(gone);
//   for (Interned over : exceeding(used, limit)) …
//
// Sums hold at the ends of int64 instead of wrapping: a maximum of "everything" is a usual one.
// Values; const access from any thread.

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/pod/resource_list.h"
#include "base/text/interned.h"

namespace mangrove::placement {

inline int64_t saturatingSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

inline int64_t saturatingDifference(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

class Amounts {
 public:
  struct Entry {
    Interned name;
    int64_t amount = 0;
    bool operator==(const Entry&) const = default;
  };
  Amounts() = default;
  Amounts(std::initializer_list<std::pair<std::string_view, int64_t>> entries);

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  const int64_t* find(Interned name) const {
    for (const Entry& entry : entries_)
      if (entry.name == name) return &entry.amount;
    return nullptr;
  }
  bool has(Interned name) const { return find(name) != nullptr; }
  int64_t amount(Interned name) const {  // 0 when absent
    const int64_t* found = find(name);
    return found == nullptr ? 0 : *found;
  }
  int64_t amount(std::string_view name) const { return amount(Interned(name)); }
  void set(Interned name, int64_t amount);
  // The amount itself; it is there, as zero, from now on. Valid until the next name comes.
  int64_t& at(Interned name) {
    for (Entry& entry : entries_)
      if (entry.name == name) return entry.amount;
    return insert(name);
  }
  // Whether it was another one before.
  bool change(Interned name, int64_t amount) {
    for (Entry& entry : entries_) {
      if (entry.name != name) continue;
      return std::exchange(entry.amount, amount) != amount;
    }
    set(name, amount);
    return true;
  }
  void erase(Interned name);
  void clear() { entries_.clear(); }

  // Over the names of both sides; a missing one counts as zero.
  void add(const Amounts& other);
  void subtract(const Amounts& other);  // may go below zero
  void raiseTo(const Amounts& other);   // the larger, name by name
  // Held down to the limit where the limit has the name.
  void lowerTo(const Amounts& limit);
  void holdAboveZero();
  void keepOnly(const Amounts& names);
  void dropZeros();

  bool isZero() const;
  bool operator==(const Amounts&) const = default;
  // The same amounts, where an absent name is zero.
  bool equalAmounts(const Amounts& other) const;

 private:
  int64_t& insert(Interned name);
  template <class Combine>
  void merge(const Amounts& other, Combine combine);
  std::vector<Entry> entries_;  // by the handle of the name
};

Amounts amountsOf(const api::ResourceList& list);
// As quantities, cpu in thousandths and the rest in units.
api::ResourceList quantitiesOf(const Amounts& amounts);
Quantity quantityOf(Interned name, int64_t amount);
// "cpu=1500m,memory=2Gi", by name; "nothing" when empty.
std::string textOf(const Amounts& amounts);

// Names of the limit that `asked` has too and exceeds, in the order of their texts: a name that
// the limit lacks is unlimited, and one that nobody asked for refuses nobody.
std::vector<Interned> exceeding(const Amounts& asked, const Amounts& limit);
// Whether every amount of `small` is at most that of `large`, absent ones being zero.
bool covers(const Amounts& large, const Amounts& small);

}  // namespace mangrove::placement
