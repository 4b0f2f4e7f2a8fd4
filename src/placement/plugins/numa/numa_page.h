#pragma once
// What GET /apis/v1/plugins/NodeNUMAResource/nodes/<name> answers: a node's CPUs and NUMA zones, and
// who has what of them. Pure functions.

#include <string>
#include <string_view>

#include "base/number/quantity.h"
#include "json/value.h"
#include "placement/plugins/numa/numa_node.h"

namespace mangrove::placement {

// cpu in thousandths, memory in bytes.
Quantity numaQuantity(const std::string& name, int64_t amount);

json::Value numaPage(std::string_view name, const NumaNode& node);

}  // namespace mangrove::placement
