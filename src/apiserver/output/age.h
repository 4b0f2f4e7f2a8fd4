#pragma once
// Times as people read them in tables: "5m", "3d4h", "2y". Pure; any thread.

#include <string>

#include "base/number/units.h"
#include "json/view.h"

namespace mangrove::apiserver {

// Two digits of precision that shrink as the time grows, as kubectl shows it: 119s, 5m3s, 47m,
// 3h12m, 26h, 3d4h, 300d, 3y40d. Less than a second into the future is 0s, more "<invalid>".
std::string humanDuration(Duration duration);

// How long ago a timestamp of an object was; "<unknown>" when it is absent or no time.
std::string ageSince(json::View timestamp, WallTime now);

}  // namespace mangrove::apiserver
