#pragma once
// Reservation: room on a node that is kept for pods to come.
//
//   PreFilter     pods that must use a reservation are limited to the nodes that have one for them
//   restore       what matching reservations hold is free while a class looks at their node
//   Filter        whether the pod fits by one of them, or on the node alone
//   tiers         nodes with a reservation for the pod come first: by order, then the best filled
//   enter         the pod moves into the reservation that is nominated on the chosen node
//   PreBind, Bind reservation-allocated on the pod; of a reservation its status
//   Reporting     statuses, expiry and garbage (keeper.h)
//
// The pods that stand for reservations wait in the same queue as others and are placed by all
// plugins; what is on nodes is ReservationBook.

#include "placement/framework/plugin.h"

namespace mangrove::placement {

Result<std::unique_ptr<Plugin>> makeReservation(const json::Value& args, PluginHandle handle);

}  // namespace mangrove::placement
