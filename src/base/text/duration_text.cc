// Go's duration strings, to the last rounding.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/text/time_text.h"

namespace mangrove {
namespace {

constexpr uint64_t kLargest = uint64_t{1} << 63;  // the magnitude of the most negative duration
constexpr uint64_t kMicro = 1000;
constexpr uint64_t kMilli = 1000 * kMicro;
constexpr uint64_t kSecond = 1000 * kMilli;

struct Unit {
  std::string_view name;
  uint64_t nanoseconds;
};
constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", kMicro},
                                         {"\u00b5s", kMicro},  // micro sign
                                         {"\u03bcs", kMicro},  // Greek mu
                                         {"ms", kMilli},
                                         {"s", kSecond},
                                         {"m", 60 * kSecond},
                                         {"h", 3600 * kSecond}}};

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

struct Number {
  uint64_t whole = 0;
  uint64_t fraction = 0;
  double scale = 1;  // the fraction's denominator
  bool hasDigits = false;
  bool overflow = false;
};

void takeWhole(std::string_view& rest, Number& number) {
  for (; !rest.empty() && isDigit(rest[0]); rest.remove_prefix(1)) {
    const auto digit = static_cast<uint64_t>(rest[0] - '0');
    number.hasDigits = true;
    if (number.whole > (kLargest - digit) / 10) {
      number.overflow = true;
    } else {
      number.whole = number.whole * 10 + digit;
    }
  }
}

// Digits that do not fit any more are finer than any unit can show.
void takeFraction(std::string_view& rest, Number& number) {
  bool full = false;
  for (; !rest.empty() && isDigit(rest[0]); rest.remove_prefix(1)) {
    const auto digit = static_cast<uint64_t>(rest[0] - '0');
    number.hasDigits = true;
    full = full || number.fraction > (kLargest - digit) / 10;
    if (full) continue;
    number.fraction = number.fraction * 10 + digit;
    number.scale *= 10;
  }
}

Number takeNumber(std::string_view& rest) {
  Number number;
  takeWhole(rest, number);
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    takeFraction(rest, number);
  }
  return number;
}

std::string_view takeUnitName(std::string_view& rest) {
  size_t end = 0;
  while (end < rest.size() && rest[end] != '.' && !isDigit(rest[end])) ++end;
  const std::string_view name = rest.substr(0, end);
  rest.remove_prefix(end);
  return name;
}

std::optional<uint64_t> unitOf(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return unit.nanoseconds;
  }
  return std::nullopt;
}

// number * unit in nanoseconds; nullopt when it does not fit. The fraction goes through a double,
// as in Go.
std::optional<uint64_t> product(const Number& number, uint64_t unit) {
  if (number.overflow || number.whole > kLargest / unit) return std::nullopt;
  uint64_t value = number.whole * unit;
  if (number.fraction > 0) {
    const double share = static_cast<double>(unit) / number.scale;
    value += static_cast<uint64_t>(static_cast<double>(number.fraction) * share);
  }
  return value > kLargest ? std::nullopt : std::optional(value);
}

Failure notADuration(std::string_view text) {
  return invalid("duration '{}': want numbers with units, such as 90s, 1h30m or 100ms", text);
}

Failure outOfRange(std::string_view text) {
  return invalid("duration '{}' is out of range: want less than 292 years", text);
}

Result<uint64_t> magnitude(std::string_view rest, std::string_view text) {
  uint64_t total = 0;
  while (!rest.empty()) {
    if (rest[0] != '.' && !isDigit(rest[0])) return notADuration(text);
    const Number number = takeNumber(rest);
    if (!number.hasDigits) return notADuration(text);
    const std::string_view name = takeUnitName(rest);
    if (name.empty())
      return invalid("duration '{}': a unit is missing: want ns, us, ms, s, m or h", text);
    const std::optional<uint64_t> unit = unitOf(name);
    if (!unit)
      return invalid("duration '{}': unknown unit '{}': want ns, us, ms, s, m or h", text, name);
    const std::optional<uint64_t> value = product(number, *unit);
    if (!value || *value > kLargest - total) return outOfRange(text);
    total += *value;
  }
  return total;
}

// value / unit with as many decimals as it takes and not one more: 1500 of 1000 is "1.5".
std::string withFraction(uint64_t value, uint64_t unit) {
  std::string out = fmt::format("{}", value / unit);
  uint64_t rest = value % unit;
  if (rest == 0) return out;
  out += '.';
  for (uint64_t place = unit / 10; rest != 0; place /= 10) {
    out += static_cast<char>('0' + rest / place);
    rest %= place;
  }
  return out;
}

std::string subSecond(uint64_t value) {
  if (value == 0) return "0s";
  if (value < kMicro) return fmt::format("{}ns", value);
  if (value < kMilli) return withFraction(value, kMicro) + "\u00b5s";
  return withFraction(value, kMilli) + "ms";
}

}  // namespace

Result<Duration> parseDuration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return Duration{0};
  if (rest.empty()) return notADuration(text);
  const Result<uint64_t> value = magnitude(rest, text);
  if (!value) return pass(value.error());
  if (*value == kLargest) return negative ? Result<Duration>(Duration::min()) : outOfRange(text);
  const auto count = static_cast<int64_t>(*value);
  return Duration{negative ? -count : count};
}

std::string formatDuration(Duration duration) {
  const int64_t count = duration.count();
  const uint64_t value = count < 0 ? -static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
  const std::string sign = count < 0 ? "-" : "";
  if (value < kSecond) return sign + subSecond(value);
  const uint64_t minutes = value / (60 * kSecond);
  const std::string tail = withFraction(value % (60 * kSecond), kSecond) + "s";
  if (minutes == 0) return sign + tail;
  if (minutes < 60) return fmt::format("{}{}m{}", sign, minutes, tail);
  return fmt::format("{}{}h{}m{}", sign, minutes / 60, minutes % 60, tail);
}

}  // namespace mangrove
