#include "placement/reservation/room.h"

#include <algorithm>

#include "api/annotations/node.h"
#include "api/annotations/reservation.h"

namespace mangrove::placement {

Result<AllocatePolicy> allocatePolicyOf(std::string_view name) {
  if (name.empty() || name == "Default") return AllocatePolicy::kDefault;
  if (name == "Aligned") return AllocatePolicy::kAligned;
  if (name == "Restricted") return AllocatePolicy::kRestricted;
  return mangrove::fail(mangrove::Code::kInvalid,
                        "allocatePolicy: found '{}', want Aligned or Restricted", name);
}

bool mayShareNode(AllocatePolicy one, AllocatePolicy other) {
  return (one == AllocatePolicy::kDefault) == (other == AllocatePolicy::kDefault);
}

ReservedRoom ReservedRoom::plain(std::string name, AllocatePolicy policy, Amounts allocatable) {
  ReservedRoom out;
  out.name = std::move(name);
  out.policy = policy;
  out.counted = allocatable;
  out.allocatable = std::move(allocatable);
  return out;
}

Result<ReservedRoom> ReservedRoom::of(const api::Reservation& reservation) {
  const std::string_view name = reservation.meta.name;
  auto policy = allocatePolicyOf(reservation.spec.allocatePolicy);
  if (!policy) return policy.error().in("reservation {}", name);
  ReservedRoom out = plain(std::string(name), *policy, amountsOf(reservation.status.allocatable));
  auto inner = api::parseNodeReservation(reservation.meta.annotations);
  if (!inner) return inner.error().in("reservation {}", name);
  if (*inner) {
    auto kept = api::reservedAmounts(**inner);
    if (!kept) return kept.error().in("reservation {}", name);
    out.inner = amountsOf(*kept);
  }
  if (*policy != AllocatePolicy::kRestricted) return out;
  auto options = api::parseReservationRestrictedOptions(reservation.meta.annotations);
  if (!options) return options.error().in("reservation {}", name);
  if (*options) out.restrictTo((*options)->resources);
  return out;
}

void ReservedRoom::restrictTo(const std::vector<std::string>& names) {
  Amounts listed;
  for (const std::string& resource : names)
    if (const int64_t* reserved = allocatable.find(Interned(resource)))
      listed.set(Interned(resource), *reserved);
  counted = listed.empty() ? allocatable : listed;
}

void ReservedRoom::take(const Amounts& owner) {
  Amounts here = owner;
  here.keepOnly(counted);
  allocated.add(here);
  ++owners;
}

Amounts ReservedRoom::remaining() const {
  Amounts out = allocatable;
  out.subtract(allocated);
  out.subtract(inner);
  out.holdAboveZero();
  out.keepOnly(allocatable);
  return out;
}

bool ReservedRoom::concerns(const Amounts& request) const {
  return std::ranges::any_of(request, [&](const auto& entry) { return counted.has(entry.name); });
}

int64_t scoreOf(const ReservedRoom& room, const Amounts& request) {
  int64_t sum = 0, names = 0;
  for (const auto& [name, reserved] : room.allocatable) {
    if (reserved == 0) continue;
    ++names;
    const int64_t taken = saturatingSum(request.amount(name), room.allocated.amount(name));
    // In 128 bits: a hundred times the bytes of a large node leave 64.
    if (taken <= reserved) sum += static_cast<int64_t>(__int128{100} * taken / reserved);
  }
  return names == 0 ? 0 : sum / names;
}

}  // namespace mangrove::placement
