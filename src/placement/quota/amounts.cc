#include "placement/quota/amounts.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/wire/names.h"

namespace mangrove::placement {

namespace {

bool before(const Amounts::Entry& entry, Interned name) {
  return entry.name.id() < name.id();
}

}  // namespace

Amounts::Amounts(std::initializer_list<std::pair<std::string_view, int64_t>> entries) {
  for (const auto& [name, amount] : entries) set(Interned(name), amount);
}

int64_t& Amounts::insert(Interned name) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name, before);
  return entries_.insert(at, {name, 0})->amount;
}

void Amounts::set(Interned name, int64_t amount) {
  at(name) = amount;
}

void Amounts::erase(Interned name) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.name == name; });
}

template <class Combine>
void Amounts::merge(const Amounts& other, Combine combine) {
  for (const Entry& theirs : other) {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), theirs.name, before);
    if (at != entries_.end() && at->name == theirs.name)
      at->amount = combine(at->amount, theirs.amount);
    else
      entries_.insert(at, {theirs.name, combine(0, theirs.amount)});
  }
}

void Amounts::add(const Amounts& other) {
  merge(other, saturatingSum);
}

void Amounts::subtract(const Amounts& other) {
  merge(other, saturatingDifference);
}

void Amounts::raiseTo(const Amounts& other) {
  merge(other, [](int64_t a, int64_t b) { return std::max(a, b); });
}

void Amounts::lowerTo(const Amounts& limit) {
  for (Entry& entry : entries_)
    if (const int64_t* most = limit.find(entry.name)) entry.amount = std::min(entry.amount, *most);
}

void Amounts::holdAboveZero() {
  for (Entry& entry : entries_) entry.amount = std::max<int64_t>(entry.amount, 0);
}

void Amounts::keepOnly(const Amounts& names) {
  std::erase_if(entries_, [&](const Entry& entry) { return !names.has(entry.name); });
}

void Amounts::dropZeros() {
  std::erase_if(entries_, [](const Entry& entry) { return entry.amount == 0; });
}

bool Amounts::isZero() const {
  return std::all_of(begin(), end(), [](const Entry& entry) { return entry.amount == 0; });
}

bool Amounts::equalAmounts(const Amounts& other) const {
  const auto within = [](const Amounts& a, const Amounts& b) {
    return std::all_of(a.begin(), a.end(),
                       [&](const Entry& entry) { return b.amount(entry.name) == entry.amount; });
  };
  return within(*this, other) && within(other, *this);
}

Amounts amountsOf(const api::ResourceList& list) {
  Amounts out;
  for (const auto& [name, amount] : list)
    out.set(name, name == api::resourceNames().cpu ? amount.milliValue() : amount.value());
  return out;
}

Quantity quantityOf(Interned name, int64_t amount) {
  if (name == api::resourceNames().cpu) return Quantity::ofMilli(amount);
  const bool isBytes = name.view().find("memory") != std::string_view::npos ||
                       name.view().find("storage") != std::string_view::npos;
  return Quantity::of(amount, 0,
                      isBytes ? Quantity::Format::kBinarySI : Quantity::Format::kDecimalSI);
}

api::ResourceList quantitiesOf(const Amounts& amounts) {
  api::ResourceList out;
  for (const auto& [name, amount] : amounts) out.set(name, quantityOf(name, amount));
  return out;
}

std::string textOf(const Amounts& amounts) {
  std::string out;
  for (const auto& [name, amount] : quantitiesOf(amounts))
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", name.view(), amount.text());
  return out.empty() ? "nothing" : out;
}

std::vector<Interned> exceeding(const Amounts& asked, const Amounts& limit) {
  std::vector<Interned> out;
  for (const auto& [name, most] : limit)
    if (const int64_t* amount = asked.find(name); amount != nullptr && *amount > most)
      out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

bool covers(const Amounts& large, const Amounts& small) {
  return std::all_of(small.begin(), small.end(), [&](const Amounts::Entry& entry) {
    return entry.amount <= large.amount(entry.name);
  });
}

}  // namespace mangrove::placement
