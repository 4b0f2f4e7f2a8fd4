#pragma once
// What the coming hours may bring, by what the same hours brought a day ago and a week ago: a model that
// forgets half of everything within a day does not know that Monday begins at nine.
//
//   Seasons seasons(almanac);
//   if (auto peak = seasons.coming("band/koord-prod", minute)) …     // the next two hours
//
// One owner; the almanac outlives it. `peakOf` is pure.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "agent/almanac/almanac.h"

namespace mangrove::agent {

// Of a stretch of so many minutes: the CPU that 95 and the memory that 98 of 100 of its minutes stayed
// within, by their own 90th percentiles, as models of prediction count. nullopt: less than half of it is known.
std::optional<AlmanacSample> peakOf(std::span<const AlmanacAnswer> cells, int64_t minutes);

class Seasons {
 public:
  static constexpr int64_t kAhead = 120;  // minutes
  // Reading the almanac takes milliseconds; what two hours bring does not change within ten minutes.
  static constexpr int64_t kKept = 10;
  static constexpr int64_t kDay = 24 * 60, kWeek = 7 * kDay;

  explicit Seasons(const Almanac& almanac) : almanac_(almanac) {}

  // The larger of yesterday and last week; `minute`: now, since 1970.
  std::optional<AlmanacSample> coming(const std::string& subject, int64_t minute);

 private:
  struct Known {
    int64_t asked = 0;
    std::optional<AlmanacSample> peak;
  };
  const Almanac& almanac_;
  std::map<std::string, Known, std::less<>> known_;
};

}  // namespace mangrove::agent
