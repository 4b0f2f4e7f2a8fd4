#pragma once
// Small things with text. Views point into the argument. Pure functions, any thread.

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace mangrove {

std::string_view trim(std::string_view text);  // blanks, tabs, line ends on both sides
// Every part, empty ones too: split("a,,b", ',') is {"a", "", "b"}; split("", ',') is {""}.
std::vector<std::string_view> split(std::string_view text, char separator);
// The parts that are left after trimming, none empty: for flags and lists a person writes.
std::vector<std::string_view> splitTrimmed(std::string_view text, char separator);
struct Halves {
  std::string_view before;
  std::string_view after;
  bool found = false;
};
// Around the first separator; without one everything is `before`.
Halves cut(std::string_view text, char separator);

template <class Range>
std::string join(const Range& parts, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) out.append(separator);
    first = false;
    out.append(std::string_view(part));
  }
  return out;
}

std::string lower(std::string_view text);  // ASCII only
bool equalIgnoringCase(std::string_view a, std::string_view b);

// The whole text as a number of base 10 without blanks or "+"; nullopt when it is anything else or
// does not fit.
template <class Int>
  requires std::is_integral_v<Int>
std::optional<Int> parseInt(std::string_view text, int base = 10) {
  Int value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace mangrove
