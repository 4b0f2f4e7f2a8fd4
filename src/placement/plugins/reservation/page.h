#pragma once
// GET /apis/v1/plugins/Reservation/nodes/NODE and …/reservations[/NAME]: what is held, what is left
// and who took it.

#include <optional>
#include <string_view>

#include "json/value.h"
#include "placement/cluster/cluster.h"

namespace mangrove::placement {

std::optional<json::Value> reservationPage(const Cluster& cluster, std::string_view path);

}  // namespace mangrove::placement
