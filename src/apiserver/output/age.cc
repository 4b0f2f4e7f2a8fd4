#include "apiserver/output/age.h"

#include <cstdint>

#include <fmt/core.h>

#include "base/text/time_text.h"

namespace mangrove::apiserver {

namespace {

// "5m3s", or "5m" when there is no rest.
std::string twoUnits(int64_t whole, char unit, int64_t rest, char finer) {
  return rest == 0 ? fmt::format("{}{}", whole, unit)
                   : fmt::format("{}{}{}{}", whole, unit, rest, finer);
}

std::string daysAndMore(int64_t hours) {
  constexpr int64_t kYear = 365;
  const int64_t days = hours / 24;
  if (days < 8) return twoUnits(days, 'd', hours % 24, 'h');
  if (days < 2 * kYear) return fmt::format("{}d", days);
  if (days < 8 * kYear) return twoUnits(days / kYear, 'y', days % kYear, 'd');
  return fmt::format("{}y", days / kYear);
}

}  // namespace

std::string humanDuration(Duration duration) {
  const int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return fmt::format("{}s", seconds);
  const int64_t minutes = seconds / 60;
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return fmt::format("{}m", minutes);
  const int64_t hours = minutes / 60;
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  return daysAndMore(hours);
}

std::string ageSince(json::View timestamp, WallTime now) {
  auto text = timestamp.string();
  if (!text) return "<unknown>";
  auto time = parseTime(*text);
  if (!time || *time == kZeroTime) return "<unknown>";
  // Whole seconds: microseconds since the year 1 would not fit into nanoseconds.
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - *time);
  constexpr auto kFar = std::chrono::hours(24 * 365 * 200);
  return humanDuration(seconds > kFar    ? Duration(kFar)
                       : seconds < -kFar ? -Duration(kFar)
                                         : Duration(seconds));
}

}  // namespace mangrove::apiserver
