#include "agent/executor/wish.h"

#include <algorithm>
#include <cmath>

namespace mangrove::agent {
namespace {

using Kind = Part::Kind;

// Whom the rule does not name comes after those it names, in the order of strategies.def.
size_t precedence(const FileRule& rule, std::string_view owner) {
  return rankOf(rule, owner).value_or(rule.owners.size());
}

const OwnedWish* firstBase(const FileRule& rule, std::span<const OwnedWish> wishes) {
  const OwnedWish* best = nullptr;
  for (const OwnedWish& one : wishes) {
    if (one.wish->part.kind != Kind::kBase) continue;
    if (!best || precedence(rule, one.owner) < precedence(rule, best->owner)) best = &one;
  }
  return best;
}

bool has(std::span<const OwnedWish> wishes, Kind kind) {
  return std::any_of(wishes.begin(), wishes.end(),
                     [&](const OwnedWish& w) { return w.wish->part.kind == kind; });
}

// Rounded up, as normalisation asks for; the epsilon keeps exact products exact.
int64_t scaled(int64_t number, double factor) {
  if (number == kUnlimited) return number;
  return static_cast<int64_t>(std::ceil(static_cast<double>(number) * factor - 1e-6));
}

void narrow(const OwnedWish& one, bool& masked, FileValue& value) {
  const Part& part = one.wish->part;
  if (part.kind == Kind::kScale) value.number = scaled(value.number, part.factor);
  if (part.kind == Kind::kCap) value.number = std::min(value.number, part.value.number);
  if (part.kind != Kind::kMask) return;
  value.cpus = masked ? value.cpus & part.value.cpus : part.value.cpus;
  masked = true;
}

}  // namespace

bool mayWant(const FileRule& rule, const OwnedWish& one) {
  return rankOf(rule, one.owner) ||
         std::find(one.files.begin(), one.files.end(), rule.resource) != one.files.end();
}

std::optional<Composed> compose(const FileRule& rule, std::span<const OwnedWish> wishes) {
  const OwnedWish* base = firstBase(rule, wishes);
  if (!base && !has(wishes, Kind::kCap) && !has(wishes, Kind::kMask)) return std::nullopt;
  Composed out;
  out.value = base ? base->wish->part.value : FileValue::of(kUnlimited);
  if (base) out.owner = base->owner, out.why = base->wish->why;
  if (rule.kind == ValueKind::kCpus) out.value.number = 0;
  bool masked = base != nullptr;
  // Scales before caps: a cap is a promise, whatever the scale.
  for (Kind kind : {Kind::kScale, Kind::kCap, Kind::kMask})
    for (const OwnedWish& one : wishes) {
      if (one.wish->part.kind != kind) continue;
      narrow(one, masked, out.value);
      out.why += (out.why.empty() ? "" : "; ") + one.wish->why;
      if (!base) out.owner += (out.owner.empty() ? "" : ",") + std::string(one.owner);
    }
  return out;
}

}  // namespace mangrove::agent
