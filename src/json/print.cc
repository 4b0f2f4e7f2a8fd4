#include "json/print.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace mangrove::json {
namespace {

constexpr double kSmallestPlain = 1e-6;
constexpr double kFirstExponent = 1e21;

struct Decimal {
  std::string_view digits;  // significant digits without a point
  int exponent = 0;         // of the first digit
};

// Splits "d.ddde±xx" as std::to_chars writes it; digits are packed in place.
Decimal decimalOf(double magnitude, std::array<char, 32>& buffer) {
  char* const first = buffer.data();
  char* const last =
      std::to_chars(first, first + buffer.size(), magnitude, std::chars_format::scientific).ptr;
  const std::string_view text(first, static_cast<size_t>(last - first));
  const size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(first + e + (text[e + 1] == '+' ? 2 : 1), last, exponent);
  if (e == 1) return {text.substr(0, 1), exponent};
  buffer[1] = buffer[0];  // over the point
  return {text.substr(1, e - 1), exponent};
}

void appendPlain(const Decimal& number, std::string& out) {
  const int size = static_cast<int>(number.digits.size());
  if (number.exponent < 0) {
    out.append("0.").append(static_cast<size_t>(-number.exponent - 1), '0').append(number.digits);
  } else if (number.exponent + 1 >= size) {
    out.append(number.digits).append(static_cast<size_t>(number.exponent + 1 - size), '0');
  } else {
    const auto whole = static_cast<size_t>(number.exponent) + 1;
    out.append(number.digits.substr(0, whole)).append(1, '.').append(number.digits.substr(whole));
  }
}

void appendExponent(const Decimal& number, std::string& out) {
  out.append(number.digits.substr(0, 1));
  if (number.digits.size() > 1) out.append(1, '.').append(number.digits.substr(1));
  out.append(number.exponent < 0 ? "e-" : "e+");
  appendInteger(std::abs(number.exponent), out);
}

template <class Integer>
void appendDigits(Integer number, std::string& out) {
  std::array<char, 24> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  out.append(buffer.data(), static_cast<size_t>(end - buffer.data()));
}

void appendEscape(char c, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    default:
      out.append("\\u00").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
  }
}

bool needsEscape(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

// The same question about eight characters at once; may say yes for one above 0x7f.
bool mayNeedEscape(const char* text) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHigh = 0x8080808080808080;
  uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  const auto holdsZero = [](uint64_t w) { return (w - kOnes) & ~w & kHigh; };
  const uint64_t control = (word - kOnes * 0x20) & ~word & kHigh;
  return (control | holdsZero(word ^ kOnes * '"') | holdsZero(word ^ kOnes * '\\')) != 0;
}

// Where the next character to escape is, at `from` or behind it.
size_t plainUntil(std::string_view text, size_t from) {
  while (from + sizeof(uint64_t) <= text.size() && !mayNeedEscape(text.data() + from))
    from += sizeof(uint64_t);
  while (from < text.size() && !needsEscape(text[from])) ++from;
  return from;
}

}  // namespace

void appendString(std::string_view text, std::string& out) {
  out += '"';
  for (size_t from = 0; from < text.size();) {
    const size_t until = plainUntil(text, from);
    out.append(text.data() + from, until - from);
    if (until < text.size()) appendEscape(text[until], out);
    from = until + 1;
  }
  out += '"';
}

void appendInteger(int64_t number, std::string& out) {
  appendDigits(number, out);
}

void appendUnsigned(uint64_t number, std::string& out) {
  appendDigits(number, out);
}

void appendDouble(double number, std::string& out) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  if (std::signbit(number)) out += '-';
  const double magnitude = std::abs(number);
  std::array<char, 32> buffer;
  const Decimal decimal = decimalOf(magnitude, buffer);
  if (magnitude == 0 || (magnitude >= kSmallestPlain && magnitude < kFirstExponent))
    appendPlain(decimal, out);
  else
    appendExponent(decimal, out);
}

}  // namespace mangrove::json
