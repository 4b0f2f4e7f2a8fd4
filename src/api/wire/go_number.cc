#include "api/wire/go_number.h"

#include <string>

#include "base/text/strings.h"

namespace mangrove::api {
namespace {

char lowered(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

// The base a prefix announces, and the digits behind it. A lone leading zero means octal and stays
// a digit for the rule about underscores.
int takeBase(std::string_view& digits) {
  if (digits.empty() || digits[0] != '0') return 10;
  const char letter = digits.size() >= 3 ? lowered(digits[1]) : '\0';
  const int base = letter == 'b' ? 2 : letter == 'o' ? 8 : letter == 'x' ? 16 : 0;
  digits.remove_prefix(base != 0 ? 2 : 1);
  return base != 0 ? base : 8;
}

// Underscores stand between digits (a prefix counts as one): never first, last or doubled.
std::optional<std::string> withoutUnderscores(std::string_view digits, bool prefixed) {
  std::string out;
  bool afterDigit = prefixed;
  for (char c : digits) {
    if (c == '_' && !afterDigit) return std::nullopt;
    afterDigit = c != '_';
    if (afterDigit) out.push_back(c);
  }
  return afterDigit ? std::optional(out) : std::nullopt;
}

}  // namespace

std::optional<int64_t> parseGoAnyBase(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const size_t length = text.size();
  if (length == 0) return std::nullopt;
  const int base = takeBase(text);
  auto digits = withoutUnderscores(text, text.size() < length);
  if (!digits) return std::nullopt;
  if (digits->empty()) digits->push_back('0');
  if (digits->starts_with('-')) return std::nullopt;
  if (negative) digits->insert(digits->begin(), '-');
  return parseInt<int64_t>(*digits, base);
}

}  // namespace mangrove::api
