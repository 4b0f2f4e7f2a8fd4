#pragma once
// What pods tell the manager, and the manager pods, in annotations of our own group.

#include <string_view>

#include "api/annotations/expected_duration.h"

namespace mangrove::manager {

// How long the pod or job expects to run, from its start: "2h".
using api::annotation::kExpectedDuration;
// How long before its node's time gets stricter the pod wants to hear of it: "1h".
inline constexpr std::string_view kDrainNotice = "colocation.mangrove.io/drain-notice";
// Written by the manager: from this time on the pod may be evicted (RFC 3339).
inline constexpr std::string_view kDrainAt = "colocation.mangrove.io/drain-at";

}  // namespace mangrove::manager
