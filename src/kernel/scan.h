#pragma once
// How kernel text is walked: line by line, word by word, without copying and without allocating.
//
//   for (Lines lines(text); lines.next();) {
//     Words words(lines.line);
//     if (words.next() && words.word == "usage_usec") …
//   }
//
// Views into the caller's text. Pure; one thread per object.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text/strings.h"

namespace mangrove::kernel {

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  bool next() {
    if (rest_.empty()) return false;
    const size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
    return true;
  }
  std::string_view line;

 private:
  std::string_view rest_;
};

// Separated by any number of blanks and tabs.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}
  bool next() {
    const size_t begin = rest_.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return false;
    rest_.remove_prefix(begin);
    const size_t end = rest_.find_first_of(" \t\r\n");
    word = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end);
    return true;
  }
  // The next word as a number; nullopt when there is none or it is no number that fits.
  template <class Int>
  std::optional<Int> number() {
    if (!next()) return std::nullopt;
    return parseInt<Int>(word);
  }
  std::string_view word;

 private:
  std::string_view rest_;
};

// The whole text as a finite decimal number.
inline std::optional<double> parseDecimal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

// A file that holds one number and a line end.
template <class Int>
std::optional<Int> parseOnly(std::string_view text) {
  return parseInt<Int>(trim(text));
}

}  // namespace mangrove::kernel
