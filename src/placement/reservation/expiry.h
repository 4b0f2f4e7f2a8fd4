#pragma once
// When a reservation ends, and when its object may go.
//
//   if (isExpired(reservation, now, nodeIsThere)) …         // becomes Failed, Ready=False/Expired
//   queue.addAfter(name, untilNextLook(reservation, now));
//   if (isCollectible(reservation, now, gcDuration, nodeIsThere)) …
//
// spec.expires decides when it is set, and spec.ttl only otherwise: the schema fills in a ttl of
// 24 h, which would end everything with a later date. A ttl counts from the creation, or from the
// start of one that begins later. A ttl of 0 keeps it for ever. Waiting for a
// place is no reason to live longer: a Pending reservation ends at the same time as any other.
//
// Pure functions, any thread.

#include <optional>

#include "api/koordinator/reservation.h"

namespace mangrove::placement {

// What spec.ttl is when nobody set it: the default of the schema.
inline constexpr Duration kDefaultReservationTtl = std::chrono::hours(24);

// The last moment of its life; nullopt: it has none.
std::optional<WallTime> endOf(const api::Reservation& reservation);

// Succeeded or Failed: nothing will change any more.
bool isTerminal(const api::Reservation& reservation);

// Whether it must be failed now. One without a node cannot lose it.
bool isExpired(const api::Reservation& reservation, WallTime now, bool nodeIsThere);

// 3 to 15 s: near its end a reservation is looked at often, and never seldom, because the pods on
// its node change without an event of its own.
Duration untilNextLook(const api::Reservation& reservation, WallTime now);

// Expired or Succeeded for longer than `keep`, or on a node that is gone. One that failed for
// another reason stays for somebody to read.
bool isCollectible(const api::Reservation& reservation, WallTime now, Duration keep,
                   bool nodeIsThere);

}  // namespace mangrove::placement
