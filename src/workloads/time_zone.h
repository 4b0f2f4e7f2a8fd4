#pragma once
// What a time zone is ahead of UTC at a moment, from the machine's zone files. Any thread.

#include <string>
#include <string_view>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::workloads {

// "" is UTC. Errors name the zone: "time zone 'Mars/Olympus': …".
Result<Duration> utcOffset(std::string_view zone, WallTime at);

// The same from the bytes of a zone file (RFC 8536, version 1 data block or later).
Result<Duration> utcOffsetIn(std::string_view file, WallTime at);

}  // namespace mangrove::workloads
