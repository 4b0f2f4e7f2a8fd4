#include "json/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace mangrove::json {
namespace {

constexpr std::string_view kCoreTag = "tag:yaml.org,2002:";

bool oneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool isTrue(std::string_view text) {
  return oneOf(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"});
}
bool isFalse(std::string_view text) {
  return oneOf(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"});
}
bool isNull(std::string_view text) {
  return oneOf(text, {"", "~", "null", "Null", "NULL"});
}
bool isNotFinite(std::string_view text) {
  if (oneOf(text, {".nan", ".NaN", ".NAN"})) return true;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  return oneOf(text, {".inf", ".Inf", ".INF"});
}

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

struct Digits {
  std::string_view text;
  int base = 10;
};

// 0x…, 0b…, 0o… and 0… choose the base.
Digits digitsOf(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return {text, 10};
  switch (text[1] | 0x20) {
    case 'x':
      return {text.substr(2), 16};
    case 'b':
      return {text.substr(2), 2};
    case 'o':
      return {text.substr(2), 8};
    default:
      return {text.substr(1), 8};
  }
}

std::optional<Value> integer(std::string_view text) {
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.remove_prefix(1);
  const Digits digits = digitsOf(text);
  uint64_t magnitude = 0;
  const char* end = digits.text.data() + digits.text.size();
  const auto read = std::from_chars(digits.text.data(), end, magnitude, digits.base);
  if (digits.text.empty() || read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  constexpr uint64_t kLimit = uint64_t{1} << 63;
  if (negative && magnitude > kLimit) return std::nullopt;
  if (negative) return static_cast<int64_t>(0 - magnitude);
  if (magnitude < kLimit) return static_cast<int64_t>(magnitude);
  return magnitude;
}

// [-+]? ( .digits | digits [. digits?] ) ( [eE] [-+]? digits )?
bool looksLikeFloat(std::string_view text) {
  size_t at = 0;
  const auto accept = [&](std::string_view set) {
    const bool found = at < text.size() && set.find(text[at]) != std::string_view::npos;
    at += found;
    return found;
  };
  const auto digits = [&] {
    const size_t start = at;
    while (at < text.size() && isDigit(text[at])) ++at;
    return at > start;
  };
  accept("+-");
  const bool whole = digits();
  const bool fraction = accept(".") && digits();
  if (!whole && !fraction) return false;
  if (accept("eE")) {
    accept("+-");
    if (!digits()) return false;
  }
  return at == text.size();
}

// What the number reads as once it has been JSON text, which is what every API server sees: 1.0 is
// written 1.
Value wholeAsInteger(double number) {
  if (std::trunc(number) != number) return number;
  if (number >= -0x1p63 && number < 0x1p63) return static_cast<int64_t>(number);
  if (number > 0 && number < 0x1p64) return static_cast<uint64_t>(number);
  return number;
}

std::optional<Value> floating(std::string_view text) {
  if (!looksLikeFloat(text)) return std::nullopt;
  if (text[0] == '+') text.remove_prefix(1);
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || !std::isfinite(number)) return std::nullopt;
  return wholeAsInteger(number);
}

bool separatesDigits(std::string_view text) {
  for (size_t at = text.find('_'); at != std::string_view::npos; at = text.find('_', at + 1))
    if (at == 0 || at + 1 == text.size() || !isDigit(text[at - 1]) || !isDigit(text[at + 1]))
      return false;
  return true;
}

std::optional<Value> number(std::string_view text) {
  const char first = text.empty() ? '\0' : text[0];
  if (!isDigit(first) && first != '+' && first != '-' && first != '.') return std::nullopt;
  if (first == '.' && !separatesDigits(text)) return std::nullopt;
  std::string plain(text);
  plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
  if (plain.empty()) return std::nullopt;
  if (auto whole = integer(plain)) return whole;
  return floating(plain);
}

}  // namespace

tl::expected<Value, ScalarError> plainScalar(std::string_view text) {
  if (isNull(text)) return Value(nullptr);
  if (isTrue(text)) return Value(true);
  if (isFalse(text)) return Value(false);
  if (isNotFinite(text)) return tl::unexpected(ScalarError::kNotFinite);
  if (auto parsed = number(text)) return std::move(*parsed);
  return Value(boost::json::string(text));
}

tl::expected<Value, ScalarError> taggedScalar(std::string_view tag, std::string_view text) {
  if (!tag.starts_with(kCoreTag)) return Value(boost::json::string(text));
  tag.remove_prefix(kCoreTag.size());
  if (!oneOf(tag, {"int", "float", "bool", "null"})) return Value(boost::json::string(text));
  auto value = plainScalar(text);
  if (!value) return value;
  const bool fits = tag == "null"   ? value->is_null()
                    : tag == "bool" ? value->is_bool()
                    : tag == "int"  ? value->is_int64() || value->is_uint64()
                                    : value->is_number();
  if (!fits) return tl::unexpected(ScalarError::kWrongType);
  return value;
}

std::optional<std::string> keyText(const Value& key) {
  if (key.is_null() || key.is_object() || key.is_array()) return std::nullopt;
  return key.is_string() ? std::string(key.get_string()) : write(key);
}

}  // namespace mangrove::json
