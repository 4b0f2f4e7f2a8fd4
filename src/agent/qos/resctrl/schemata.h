#pragma once
// Shares of cache and memory bandwidth in resctrl's language. Pure functions, any thread.
//
//   cacheMask("7ff", 0, 30)                 // "f": the lowest 4 of 11 ways
//   bandwidthValue("GenuineIntel", 85)      // "90": Intel takes steps of ten
//   cacheLine({0, 1}, "f")                  // "L3:0=f;1=f;\n"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mangrove::agent {

// `fullMask` is info/L3/cbm_mask. A range narrower than one way gets one way.
Result<std::string> cacheMask(std::string_view fullMask, int64_t startPercent, int64_t endPercent);
// What info/MB says: percentages go in steps and not below the least. Without the file: as Intel's
// first processors have it, and nothing for a vendor we know no rule for.
struct BandwidthSteps {
  int64_t step = 0;  // 0: not said
  int64_t least = 0;
};
// nullopt: leave it as it is (a percentage out of 1 to 100, or no rule for this vendor). AMD counts
// in eighths of GB/s, everybody else, MPAM included, in percent.
std::optional<std::string> bandwidthValue(std::string_view vendor, int64_t percent,
                                          BandwidthSteps steps = {});

std::string cacheLine(std::span<const int> cacheIds, std::string_view mask);
std::string bandwidthLine(std::span<const int> cacheIds, std::string_view value);

struct Schemata {
  std::map<int, int64_t> l3;  // by cache id
  std::map<int, int64_t> mb;
  std::map<int, int64_t> code;  // of a cache divided for code and data, which has no line L3
  bool operator==(const Schemata&) const = default;
};
// `caches`: how many there must be, -1: as many as the L3 line has, if there is one. Lines of other
// resources are skipped.
Result<Schemata> parseSchemata(std::string_view text, int caches);

}  // namespace mangrove::agent
