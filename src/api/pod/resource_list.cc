#include "api/pod/resource_list.h"

#include <algorithm>

#include "api/wire/names.h"
#include "base/check.h"
#include "json/value.h"

namespace mangrove::api {

const ResourceNames& resourceNames() {
  static const ResourceNames names{Interned(resource::kCpu),
                                   Interned(resource::kMemory),
                                   Interned(resource::kEphemeralStorage),
                                   Interned(resource::kPods),
                                   Interned(resource::kStorage),
                                   Interned(resource::kBatchCpu),
                                   Interned(resource::kBatchMemory),
                                   Interned(resource::kMidCpu),
                                   Interned(resource::kMidMemory)};
  return names;
}

ResourceList::ResourceList(
    std::initializer_list<std::pair<std::string_view, std::string_view>> entries) {
  for (auto [name, text] : entries) {
    auto amount = Quantity::parse(text);
    CHECK(amount.has_value(), "{} = '{}' is not a quantity", name, text);
    set(Interned(name), *std::move(amount));
  }
}

const Quantity* ResourceList::find(Interned name) const {
  for (const Entry& entry : entries_)
    if (entry.name == name) return &entry.amount;
  return nullptr;
}

const Quantity* ResourceList::find(std::string_view name) const {
  for (const Entry& entry : entries_)
    if (entry.name.view() == name) return &entry.amount;
  return nullptr;
}

Quantity ResourceList::amount(std::string_view name) const {
  const Quantity* found = find(name);
  return found ? *found : Quantity();
}

MilliCpu ResourceList::cpu() const {
  const Quantity* found = find(resourceNames().cpu);
  return found ? found->milliCpu() : MilliCpu{};
}

Bytes ResourceList::memory() const {
  const Quantity* found = find(resourceNames().memory);
  return found ? found->bytes() : Bytes{};
}

std::vector<ResourceList::Entry>::iterator ResourceList::place(Interned name) {
  return std::lower_bound(entries_.begin(), entries_.end(), name,
                          [](const Entry& e, Interned n) { return e.name < n; });
}

void ResourceList::set(Interned name, Quantity amount) {
  auto at = place(name);
  if (at != entries_.end() && at->name == name)
    at->amount = std::move(amount);
  else
    entries_.insert(at, Entry{name, std::move(amount)});
}

void ResourceList::erase(std::string_view name) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.name.view() == name; });
}

void ResourceList::add(const ResourceList& other) {
  for (const Entry& entry : other) {
    auto at = place(entry.name);
    if (at != entries_.end() && at->name == entry.name)
      at->amount += entry.amount;
    else
      entries_.insert(at, entry);
  }
}

void ResourceList::subtract(const ResourceList& other) {
  for (const Entry& entry : other) {
    auto at = place(entry.name);
    if (at != entries_.end() && at->name == entry.name)
      at->amount -= entry.amount;
    else
      entries_.insert(at, Entry{entry.name, -entry.amount});
  }
}

void ResourceList::raiseTo(const ResourceList& other) {
  for (const Entry& entry : other) {
    auto at = place(entry.name);
    if (at == entries_.end() || at->name != entry.name)
      entries_.insert(at, entry);
    else if (at->amount < entry.amount)
      at->amount = entry.amount;
  }
}

bool ResourceList::equalAmounts(const ResourceList& other) const {
  const auto covers = [](const ResourceList& a, const ResourceList& b) {
    return std::ranges::all_of(a, [&](const Entry& entry) {
      const Quantity* there = b.find(entry.name);
      return there ? *there == entry.amount : entry.amount.isZero();
    });
  };
  return covers(*this, other) && covers(other, *this);
}

json::Object ResourceList::toJson() const {
  json::Object out;
  for (const Entry& entry : entries_) out[entry.name.view()] = entry.amount.text();
  return out;
}

bool read(const In& in, ResourceList& out) {
  if (!in.view.isObject()) return in.wants("an object of quantities");
  out = {};
  out.reserve(in.view.size());
  for (auto [key, value] : in.view.members()) {
    const Interned name = internRecent(key);
    in.mix(name.id());
    Quantity amount;
    if (!value.isNull() && !read(in.member(key, value), amount)) return false;
    out.set(name, std::move(amount));
  }
  return true;
}

}  // namespace mangrove::api
