#pragma once
// The pod that stands for a reservation: it waits in line, is placed by every plugin's rules and
// keeps the room until owners take it, as any pod would. Only what is written about it goes to the
// Reservation.
//
//   if (auto ok = checkReservation(*object); !ok) …      // nothing can be done with it
//   api::Pod pod = reservePodOf(*object);
//   if (isReservePod(pod)) …  reservationNameOf(pod)
//
// Its name is the reservation's uid. Amounts that the annotation reservation-resize-allocatable
// sets count from the beginning: a reservation that grew when it is placed could not be kept.
// Pure functions, any thread.

#include <optional>
#include <string_view>

#include "api/koordinator/reservation.h"
#include "api/pod/pod.h"
#include "api/pod/resource_list.h"
#include "base/result.h"

namespace mangrove::placement {

// On the pod alone: the allocatePolicy of its reservation.
inline constexpr std::string_view kReservePolicy = "internal.scheduling.koordinator.sh/policy";

// Whether it says enough to be placed: a template, an owner, a policy that there is.
Result<> checkReservation(const api::Reservation& reservation);

api::Pod reservePodOf(const api::Reservation& reservation);
// Also known by its name: a pod of somebody who wrote the annotation himself is none.
bool isReservePod(const api::Pod& pod);
std::string_view reservationNameOf(const api::Pod& reservePod);

// What it reserves: of its status once it is Available, else of the template and the annotation.
api::ResourceList reservedAmountsOf(const api::Reservation& reservation);

bool isAvailable(const api::Reservation& reservation);
// It has its node and has not begun: its room is kept for a later time.
bool isPlanned(const api::Reservation& reservation);
// When it begins; kZeroTime: as soon as it has a place. One that cannot be read counts as none.
WallTime startOf(const api::Reservation& reservation);
// As its template or its label say; nullopt: they do not.
std::optional<int32_t> saidPriority(const api::Reservation& reservation);

}  // namespace mangrove::placement
