#pragma once
// How long a NodeMetric's report holds, as the manager says on the object: readers that know this
// annotation do not call an older report expired, and an agent that sees it writes only what changes a
// decision, and everything at least every ten minutes. Without it every reader's usual 180 s count.
//
//   metadata: { annotations: { node.mangrove.io/report-validity: "780s" } }
//
// Pure, any thread.

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/number/units.h"

namespace mangrove::api {

inline constexpr std::string_view kReportValidityKey = "node.mangrove.io/report-validity";

// Zero: not said, or nonsense. An hour at most: nobody decides by yesterday's load.
template <class Annotations>
Duration reportValidity(const Annotations& annotations) {
  const std::string_view text = annotations.get(kReportValidityKey).value_or("");
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool isWhole = error == std::errc{} && end + 1 == text.data() + text.size() && *end == 's';
  if (!isWhole || seconds <= 0) return Duration::zero();
  return std::chrono::seconds(std::min<int64_t>(seconds, 3600));
}

}  // namespace mangrove::api
