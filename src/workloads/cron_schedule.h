#pragma once
// Cron's five fields: minute hour day month weekday, each "*", numbers, names, ranges, steps and
// lists, or one of @yearly @monthly @weekly @daily @hourly. When day and weekday are both
// restricted, either is enough.
//
//   auto schedule = CronSchedule::parse("*/15 2-4 * * mon-fri");
//   schedule->next(now)                       // the first time after now; nullopt: never
//
// Times are read in UTC; the caller shifts them for a time zone. Values; const access from any
// thread.

#include <bitset>
#include <optional>
#include <string_view>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::workloads {

class CronSchedule {
 public:
  static Result<CronSchedule> parse(std::string_view text);
  std::optional<WallTime> next(WallTime after) const;

 private:
  bool dayMatches(WallTime day) const;
  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;    // 1…31
  std::bitset<13> months_;  // 1…12
  std::bitset<7> weekdays_;
  bool anyDay_ = false, anyWeekday_ = false;
};

}  // namespace mangrove::workloads
