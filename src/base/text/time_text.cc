#include "base/text/time_text.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "base/check.h"

namespace mangrove {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

// Takes fixed pieces from the front of a time text; the first one that does not fit is remembered.
class TimeScanner {
 public:
  explicit TimeScanner(std::string_view text) : rest_(text) {}

  int number(size_t digits, int low, int high, const char* what) {
    if (bad_) return low;
    int value = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (i >= rest_.size() || !isDigit(rest_[i])) return reject(what, low);
      value = value * 10 + (rest_[i] - '0');
    }
    if (value < low || value > high) return reject(what, low);
    rest_.remove_prefix(digits);
    return value;
  }

  // Go reads an hour of one digit as well.
  int hour() {
    const bool oneDigit = rest_.size() > 1 && isDigit(rest_[0]) && rest_[1] == ':';
    return number(oneDigit ? 1 : 2, 0, 23, "hour");
  }

  void literal(char c, const char* what) {
    if (bad_) return;
    if (!rest_.starts_with(c)) {
      reject(what, 0);
    } else {
      rest_.remove_prefix(1);
    }
  }

  // Digits after the point, cut to microseconds.
  microseconds fraction() {
    if (bad_ || rest_.size() < 2 || (rest_[0] != '.' && rest_[0] != ',') || !isDigit(rest_[1])) {
      return microseconds{0};
    }
    rest_.remove_prefix(1);
    int64_t value = 0;
    int64_t unit = 1000000;
    for (; !rest_.empty() && isDigit(rest_[0]); rest_.remove_prefix(1)) {
      unit /= 10;
      value += unit * (rest_[0] - '0');
    }
    return microseconds{value};
  }

  seconds zone() {
    if (bad_ || rest_ == "Z") return seconds{0};
    const bool west = rest_.starts_with('-');
    if (!west && !rest_.starts_with('+')) return seconds{reject("zone", 0)};
    rest_.remove_prefix(1);
    const int hours = number(2, 0, 23, "zone");
    literal(':', "zone");
    const int minutes = number(2, 0, 59, "zone");
    if (!bad_ && !rest_.empty()) reject("zone", 0);
    const seconds offset{(hours * 60 + minutes) * 60};
    return west ? -offset : offset;
  }

  int reject(const char* what, int fallback) {
    if (!bad_) bad_ = what;
    return fallback;
  }
  const char* bad() const { return bad_; }

 private:
  std::string_view rest_;
  const char* bad_ = nullptr;
};

sys_days scanDate(TimeScanner& scanner) {
  const int year = scanner.number(4, 0, 9999, "year");
  scanner.literal('-', "date");
  const int month = scanner.number(2, 1, 12, "month");
  scanner.literal('-', "date");
  const int day = scanner.number(2, 1, 31, "day");
  const year_month_day date(std::chrono::year(year),
                            std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) scanner.reject("day", 0);
  return sys_days(date);
}

struct Fields {
  int year, month, day, hour, minute, second, micro;
};

Fields fieldsOf(WallTime time) {
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const year_month_day date(days);
  const std::chrono::hh_mm_ss clock(time - days);
  return {static_cast<int>(date.year()),
          static_cast<int>(static_cast<unsigned>(date.month())),
          static_cast<int>(static_cast<unsigned>(date.day())),
          static_cast<int>(clock.hours().count()),
          static_cast<int>(clock.minutes().count()),
          static_cast<int>(clock.seconds().count()),
          static_cast<int>(clock.subseconds().count())};
}

}  // namespace

Result<WallTime> parseTime(std::string_view text) {
  TimeScanner scanner(text);
  const sys_days date = scanDate(scanner);
  scanner.literal('T', "'T' between date and time");
  const int hour = scanner.hour();
  scanner.literal(':', "time");
  const int minute = scanner.number(2, 0, 59, "minute");
  scanner.literal(':', "time");
  const int second = scanner.number(2, 0, 59, "second");
  const microseconds fraction = scanner.fraction();
  const seconds zone = scanner.zone();
  if (scanner.bad()) {
    return invalid("time '{}': the {} is wrong: want RFC 3339 such as 2026-03-01T12:00:00Z", text,
                   scanner.bad());
  }
  return WallTime(date.time_since_epoch() + seconds{(hour * 60 + minute) * 60 + second} + fraction -
                  zone);
}

std::string formatTime(WallTime time) {
  const Fields f = fieldsOf(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", f.year, f.month, f.day, f.hour,
                     f.minute, f.second);
}

std::string formatMicroTime(WallTime time) {
  const Fields f = fieldsOf(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", f.year, f.month, f.day, f.hour,
                     f.minute, f.second, f.micro);
}

}  // namespace mangrove
