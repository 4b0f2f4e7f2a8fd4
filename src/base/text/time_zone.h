#pragma once
// What the clock on the wall shows in a place: offsets from UTC over time, read from the system's
// zone files (TZif, RFC 8536). "UTC" and fixed offsets ("+08:00") need no file. After the last
// change that a file lists, its offset holds.
//
//   Result<TimeZone> zone = TimeZone::load("Asia/Shanghai");
//   zone->offsetAt(now)                       // 8 h
//
// Values; const access from any thread.

#include <string>
#include <string_view>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove {

class TimeZone {
 public:
  TimeZone() = default;  // UTC
  // By name. Unknown names are errors that say what would be right.
  static Result<TimeZone> load(std::string_view name,
                               const std::string& directory = "/usr/share/zoneinfo");
  // The content of a TZif file.
  static Result<TimeZone> parse(std::string_view bytes);

  std::chrono::seconds offsetAt(WallTime time) const;
  // The moment at which the place's clock shows this local time (counted as if it were UTC).
  WallTime momentOf(WallTime local) const;

 private:
  struct Change {
    int64_t at;      // seconds since 1970
    int32_t offset;  // seconds east of UTC from then on
  };
  int32_t first_ = 0;  // before the first change
  std::vector<Change> changes_;
};

}  // namespace mangrove
