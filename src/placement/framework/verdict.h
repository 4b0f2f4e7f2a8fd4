#pragma once
// What a filter says about a pod on one node, in eight bytes: fits, or the code and the plugin's
// own number for the reason. The text is made only when somebody reads it (Plugin::reasons).

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/number/units.h"

namespace mangrove::placement {

using Row = uint32_t;
inline constexpr Row kNoRow = ~Row{0};

// A number for each row of the table: the weighted sum of its scores so far, kNotFeasible where the
// pod does not fit.
using Totals = std::span<int32_t>;
inline constexpr int32_t kNotFeasible = std::numeric_limits<int32_t>::min();

enum class Code : uint8_t {
  kFits,
  kUnschedulable,  // evicting pods may help
  kUnresolvable,   // no eviction can help on this node
  kError,          // ends the cycle
};

struct Verdict {
  Code code = Code::kFits;
  uint8_t plugin = 0;  // place in the profile's filter order
  uint32_t why = 0;    // the plugin's own number

  bool fits() const { return code == Code::kFits; }
  bool operator==(const Verdict&) const = default;
};

// A verdict about the pod as a whole (PreFilter, Permit, Reserve …).
struct PodVerdict {
  enum class Kind : uint8_t { kGo, kSkip, kRefused, kUnresolvable, kWait, kError };
  Kind kind = Kind::kGo;
  std::string plugin;
  std::vector<std::string> reasons;
  // Rows the pod is limited to, in any order; meaningful when `narrows`.
  bool narrows = false;
  std::vector<Row> rows;
  Duration longest = std::chrono::minutes(15);  // how long kWait may last

  bool go() const { return kind == Kind::kGo || kind == Kind::kSkip; }
  static PodVerdict refuse(Kind kind, std::string reason) {
    PodVerdict out;
    out.kind = kind;
    out.reasons.push_back(std::move(reason));
    return out;
  }
};

}  // namespace mangrove::placement
