#pragma once
// Bandwidth promises in resource-qos-config must add up: percentages to 100 at most, amounts to the
// node's bandwidth where system-config names one.
//
// Pure; any thread.

#include <optional>

#include "base/number/quantity.h"
#include "json/value.h"
#include "manager/config/finding.h"

namespace mangrove::manager {

// `strategy` is a ResourceQOSStrategy as JSON; findings are made at paths below `at`.
void checkBandwidth(const json::Value& strategy, const std::optional<Quantity>& total,
                    std::string_view at, FindingsAbout& out);

}  // namespace mangrove::manager
