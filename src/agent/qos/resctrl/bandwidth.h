#pragma once
// Memory bandwidth by measurement: when the traffic of a cache domain nears what its memory can
// give, best-effort work gets a step less of it; when there is room again, a step more. Pure but
// for what the governor remembers, any thread.
//
//   auto marks = parseBandwidthMarks(R"({"perDomain":"40G"})");
//   percent = governor.next(now, {.total = 34e9, .bestEffort = 20e9, .present = 100}, marks);
//
// Between the two marks nothing moves. Their distance must be more than a step is worth, or limits
// would swing; hence the least distance of 15 percent.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::agent {

inline constexpr std::string_view kBandwidthAnnotation = "node.mangrove.io/memory-bandwidth";

struct BandwidthMarks {
  double perDomain = 0;  // bytes per second that one cache domain's memory can give
  int64_t highPercent = 80;
  int64_t lowPercent = 60;
  bool operator==(const BandwidthMarks&) const = default;
};
// The Node's annotation: {"perDomain":"40G","highPercent":80,"lowPercent":60}. Without it nothing
// is controlled: hardware does not say what its memory can give.
Result<BandwidthMarks> parseBandwidthMarks(std::string_view json);

struct BandwidthRound {
  double total = 0;       // bytes per second, everybody
  double bestEffort = 0;  // of it
  int64_t present = 100;  // percent that best-effort work may use now
  int64_t ceiling = 100;  // what the configuration grants
  int64_t step = 10;
  int64_t least = 10;
};

class BandwidthGovernor {
 public:
  static constexpr Duration kHold = std::chrono::seconds(5);  // of room, before a step up
  // The percentage from now on, within [least, ceiling].
  int64_t next(MonoTime at, const BandwidthRound& round, const BandwidthMarks& marks);

 private:
  MonoTime roomSince_ = MonoTime::min();
};

// A counter of bytes between two readings, by name.
class TrafficMeter {
 public:
  // Per second; nullopt: the first reading, or the counter went backwards.
  std::optional<double> rate(const std::string& name, MonoTime at, uint64_t bytes);
  void clear() { seen_.clear(); }

 private:
  std::map<std::string, std::pair<uint64_t, MonoTime>> seen_;
};

}  // namespace mangrove::agent
