#pragma once
// What GET /apis/v1/plugins/DeviceShare/nodeDeviceSummaries[/<node>] answers: the cards of nodes,
// what is free of each and who has it. Owner thread.

#include <optional>
#include <string_view>

#include "json/value.h"
#include "placement/plugins/deviceshare/device_books.h"

namespace mangrove::placement {

std::optional<json::Value> devicePage(const Cluster& cluster, const DeviceBooks& books,
                                      std::string_view path);

}  // namespace mangrove::placement
