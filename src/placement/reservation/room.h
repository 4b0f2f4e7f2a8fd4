#pragma once
// What a reservation holds and what is left of it, in amounts.
//
//   auto room = ReservedRoom::of(reservation);         // as read, nobody in it
//   room->take(requestsOfAnOwner);
//   room->remaining();                                 // what the next pod finds kept for it
//
// Three kinds of amounts: what is reserved, what of it is kept back inside for nobody (annotation
// node.koordinator.sh/reservation), and what owners took. Owners are counted on some names only:
// all reserved ones, or those that the options of a Restricted reservation list; the others are
// shared with the node and never shrink here. Worked: 3.5 cpus and 8 GiB with options [memory] and
// an owner of 2 cpus and 2 GiB: 3.5 cpus and 6 GiB remain.
//
// Values; const access from any thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/reservation.h"
#include "base/result.h"
#include "placement/quota/amounts.h"

namespace mangrove::placement {

enum class AllocatePolicy : uint8_t {
  kDefault,     // "": as Aligned, but alone with its kind on a node
  kAligned,     // what the reservation lacks may come from the node
  kRestricted,  // what it reserves comes from it and from nowhere else
};
Result<AllocatePolicy> allocatePolicyOf(std::string_view name);
// Whether reservations of both policies may be on one node.
bool mayShareNode(AllocatePolicy one, AllocatePolicy other);

struct ReservedRoom {
  std::string name;
  AllocatePolicy policy = AllocatePolicy::kDefault;
  Amounts allocatable;
  Amounts counted;  // of allocatable, the names owners are counted on
  Amounts inner;    // kept back
  Amounts allocated;
  int64_t owners = 0;
  // Of the owners, what a trial of preemption has taken away again.
  Amounts preemptible;
  int64_t preemptibleOwners = 0;

  // Without annotations: everything reserved is counted.
  static ReservedRoom plain(std::string name, AllocatePolicy policy, Amounts allocatable);
  // The amounts of its status. Fails on a policy that is none and on annotations that are no JSON.
  static Result<ReservedRoom> of(const api::Reservation& reservation);

  // Counts owners on these names alone, as far as they are reserved; none of them: on all.
  void restrictTo(const std::vector<std::string>& names);
  void take(const Amounts& owner);
  Amounts remaining() const;
  // Whether they have a name in common.
  bool concerns(const Amounts& request) const;
};

// 0 to 100, the fuller the better: over the reserved names the mean of how much would be taken in
// per cent, 0 for a name that would overflow. Worked: 2 cpus and 4 GiB on 4 and 8: 50.
int64_t scoreOf(const ReservedRoom& room, const Amounts& request);

}  // namespace mangrove::placement
