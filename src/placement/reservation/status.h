#pragma once
// What a reservation's status should say: functions from what is there to what is to be written.
//
//   auto wanted = availableStatus(reservation, "node-1", now);
//   ObjectPatch patch = statusPatch(reservation, wanted);
//
// Pure functions, any thread.

#include <optional>
#include <string_view>
#include <vector>

#include "api/koordinator/reservation.h"
#include "placement/framework/object_patch.h"

namespace mangrove::placement {

// Placed: amounts, node, and both conditions anew.
api::ReservationStatus availableStatus(const api::Reservation& reservation, std::string_view node,
                                       WallTime now);
// Placed, and begins later.
api::ReservationStatus plannedStatus(const api::Reservation& reservation, std::string_view node,
                                     WallTime now);
// Planned on a node that is gone: it looks for another one.
api::ReservationStatus unplannedStatus(const api::Reservation& reservation, WallTime now);
// Its time has come, and its room is not free: why; nullopt: that is said already.
std::optional<api::ReservationStatus> lateStatus(const api::Reservation& reservation,
                                                 std::string_view why, WallTime now);
// Not placed, and why: what is written for the pod that stands for it; nullopt: that is said
// already, or it had a place once.
std::optional<ObjectPatch> unschedulablePatch(const api::Pod& reservePod, std::string_view reason,
                                              std::string_view message, WallTime now);

struct ReservationUse {
  std::vector<api::ObjectRef> owners;  // ns, name, uid; by uid
  api::ResourceList allocated;
  bool spent = false;  // for one owner, and it had one
};
// The status that use and time make of it; nullopt: nothing changes. Expired: Failed with
// Ready=False/Expired; spent: Succeeded.
std::optional<api::ReservationStatus> nextStatus(const api::Reservation& reservation,
                                                 const ReservationUse& use, WallTime now,
                                                 bool nodeIsThere);

// From the status of the object to another one, of this very object and no later one of its name.
ObjectPatch statusPatch(const api::Reservation& reservation, const api::ReservationStatus& wanted);

}  // namespace mangrove::placement
