#pragma once
// How long a pod says that it will run: "2h30m" in the annotation
// colocation.mangrove.io/expected-duration. Ours; Koordinator has nothing like it.
//
//   expectedDurationOf(pod.meta.annotations)     // nullopt: it does not say, or not readably
//
// Pure function, any thread.

#include <optional>
#include <string_view>

#include "api/object/meta.h"
#include "base/number/units.h"

namespace mangrove::api {

namespace annotation {
inline constexpr std::string_view kExpectedDuration = "colocation.mangrove.io/expected-duration";
}

// Above zero.
std::optional<Duration> expectedDurationOf(const Annotations& pod);

}  // namespace mangrove::api
