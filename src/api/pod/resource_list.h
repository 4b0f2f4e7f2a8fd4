#pragma once
// Amounts by resource name: what containers ask for, what nodes have. Sorted by name, exact
// (base/number/quantity.h).
//
//   ResourceList want{{"cpu", "1500m"}, {"memory", "2Gi"}};
//   want.cpu()                                       // MilliCpu{1500}; 0 when absent
//   want.amount(resource::kBatchCpu)                 // Quantity, zero when absent
//   total.add(want);
//
// 24 bytes per entry. Values; const access from any thread.

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "api/wire/decode.h"
#include "json/fwd.h"

namespace mangrove::api {

class ResourceList {
 public:
  struct Entry {
    Interned name;
    Quantity amount;
    bool operator==(const Entry&) const = default;
  };
  ResourceList() = default;
  // For tests and defaults: texts that are no quantity end the process.
  ResourceList(std::initializer_list<std::pair<std::string_view, std::string_view>> entries);

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  const Quantity* find(Interned name) const;  // nullptr: not in the list
  const Quantity* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  Quantity amount(std::string_view name) const;  // zero when absent
  MilliCpu cpu() const;                          // rounded away from zero, saturating
  Bytes memory() const;

  void set(Interned name, Quantity amount);
  void set(std::string_view name, Quantity amount) { set(Interned(name), std::move(amount)); }
  void erase(std::string_view name);
  void reserve(size_t size) { entries_.reserve(size); }

  // Entry by entry; names missing on one side count as zero there and appear in the result.
  void add(const ResourceList& other);
  void subtract(const ResourceList& other);
  void raiseTo(const ResourceList& other);  // the larger of both, name by name

  // The same names with the same amounts, whatever their texts.
  bool operator==(const ResourceList&) const = default;
  // The same amounts, where an absent name is zero.
  bool equalAmounts(const ResourceList& other) const;

  json::Object toJson() const;  // canonical texts, sorted by name

 private:
  std::vector<Entry>::iterator place(Interned name);
  std::vector<Entry> entries_;
};
bool read(const In& in, ResourceList& out);

// Handles of the names every component asks for, interned once.
struct ResourceNames {
  Interned cpu, memory, ephemeralStorage, pods, storage;
  Interned batchCpu, batchMemory, midCpu, midMemory;
};
const ResourceNames& resourceNames();

}  // namespace mangrove::api
