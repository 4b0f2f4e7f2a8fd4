#pragma once
// What is written about reservations and their owners, and what is said about pods that find none.

#include <string>
#include <vector>

#include "placement/cluster/cluster.h"
#include "placement/framework/plugin.h"
#include "placement/reservation/status.h"

namespace mangrove::placement {

// The annotation reservation-allocated of an owner.
std::string allocatedText(const ReservationEntry& entry);

// Of a reservation that got its node: the pods it takes over, the annotations of other plugins, and
// last the status that makes it Available.
std::vector<ObjectPatch> bindingPatches(const ReservationEntry& entry, std::string_view node,
                                        const BindNotes& notes, WallTime now);

// Who is in it; owners that are only on their way are left out.
ReservationUse useOf(const ReservationEntry& entry);

// How many reservations are in the way of a pod that must use one, and why: "0/3 reservations are
// available: 1 Reservation(s) is unschedulable, 3 Reservation(s) matched owner total".
std::string whyNoReservation(const ReservationClaim& claim, const Cluster& cluster);

}  // namespace mangrove::placement
