#include "api/annotations/annotation.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/text/strings.h"

namespace mangrove::api {
namespace {

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

// "inf", "infinity" and "nan" in any case; from_chars would also take "nan(7)".
bool isNamedNumber(std::string_view text) {
  for (std::string_view name : {"inf", "infinity", "nan"})
    if (equalIgnoringCase(text, name)) return true;
  return false;
}

std::optional<double> fromChars(std::string_view digits, std::chars_format format) {
  double value = 0;
  const char* end = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data(), end, value, format);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<double> unsignedFloat(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const bool isHex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (isHex) {
    const std::string_view digits = text.substr(2);
    if (digits.find_first_of("pP") == std::string_view::npos) return std::nullopt;
    return fromChars(digits, std::chars_format::hex);
  }
  if (!isDigit(text[0]) && text[0] != '.' && !isNamedNumber(text)) return std::nullopt;
  return fromChars(text, std::chars_format::general);
}

}  // namespace

Result<int64_t> parseGoInt(std::string_view text, int bits) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const bool isSigned = digits.size() < text.size() && digits.starts_with('-');
  const auto value = isSigned ? std::nullopt : parseInt<int64_t>(digits);
  if (!value) return invalid("'{}' is no integer of {} bits", text, bits);
  const int64_t most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  if (*value > most || *value < -most - 1)
    return invalid("'{}' does not fit an integer of {} bits", text, bits);
  return *value;
}

Result<double> parseGoFloat(std::string_view text) {
  std::string_view rest = text;
  const bool isNegative = rest.starts_with('-');
  if (isNegative || rest.starts_with('+')) rest.remove_prefix(1);
  const auto value = unsignedFloat(rest);
  if (!value || (std::isnan(*value) && rest.size() != text.size()))
    return invalid("'{}' is no number", text);
  return isNegative ? -*value : *value;
}

bool isTrueLabel(const Labels& labels, std::string_view key) {
  return labels.get(key) == "true";
}

}  // namespace mangrove::api
