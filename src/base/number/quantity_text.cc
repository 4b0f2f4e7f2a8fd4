// Printing quantities in canonical form.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/number/quantity.h"
#include "base/number/wide_decimal.h"

namespace mangrove {
namespace {

using Format = Quantity::Format;

constexpr int kNano = -WideDecimal::kFractionDigits;
constexpr int kLargestSi = 18;
constexpr std::array<std::string_view, 10> kSiSuffixes = {"n", "u", "m", "",  "k",
                                                          "M", "G", "T", "P", "E"};
constexpr std::array<std::string_view, 7> kBinarySuffixes = {"",   "Ki", "Mi", "Gi",
                                                             "Ti", "Pi", "Ei"};
constexpr size_t kLargestBinary = kBinarySuffixes.size() - 1;

// Beyond "E" there is no letter: both decimal formats then use an exponent.
void appendDecimalSuffix(std::string& out, int exponent, Format format) {
  if (format == Format::kDecimalSI && exponent <= kLargestSi) {
    out += kSiSuffixes[static_cast<size_t>((exponent - kNano) / 3)];
  } else if (exponent != 0) {
    fmt::format_to(std::back_inserter(out), "e{}", exponent);
  }
}

// digits * 10^exponent with all trailing zeros moved into the exponent, as far as it stays a
// multiple of three.
void appendEngineering(std::string& out, std::string_view digits, int exponent, Format format) {
  const size_t kept = digits.find_last_not_of('0') + 1;
  exponent += static_cast<int>(digits.size() - kept);
  const int back = ((exponent % 3) + 3) % 3;
  out += digits.substr(0, kept);
  out.append(static_cast<size_t>(back), '0');
  appendDecimalSuffix(out, exponent - back, format);
}

uint64_t magnitudeOf(int64_t value) {
  return value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

}  // namespace

void Quantity::appendDecimal(std::string& out, Format format) const {
  if (sign() < 0) out += '-';
  if (isWide_) {
    appendEngineering(out, widePart().digits(), kNano, format);
  } else {
    const fmt::format_int digits(magnitudeOf(mantissa_));
    appendEngineering(out, {digits.data(), digits.size()}, scale_, format);
  }
}

// False when the amount has no binary form: fractions, and below 1024 where no suffix fits.
bool Quantity::appendBinary(std::string& out) const {
  const Quantity edge = of(1024);
  if (!isInteger() || (*this<edge&&* this> - edge)) return false;
  if (sign() < 0) out += '-';
  size_t suffix = 0;
  if (isExact(0)) {
    uint64_t magnitude = magnitudeOf(value());
    for (; suffix < kLargestBinary && magnitude % 1024 == 0; ++suffix) magnitude /= 1024;
    const fmt::format_int digits(magnitude);
    out.append(digits.data(), digits.size());
  } else {
    WideDecimal whole = wide();
    for (WideDecimal next = whole; suffix < kLargestBinary; ++suffix, whole = next) {
      if (next.divide(1024) != 0 || !next.isInteger()) break;
    }
    const std::string digits = whole.digits();
    out.append(digits, 0, digits.size() - WideDecimal::kFractionDigits);
  }
  out += kBinarySuffixes[suffix];
  return true;
}

void Quantity::appendTo(std::string& out) const {
  if (isZero()) {
    out += '0';
  } else if (format_ != Format::kBinarySI) {
    appendDecimal(out, format_);
  } else if (!appendBinary(out)) {
    appendDecimal(out, Format::kDecimalSI);
  }
}

std::string Quantity::text() const {
  std::string out;
  appendTo(out);
  return out;
}

const char* formatName(Quantity::Format format) {
  switch (format) {
    case Format::kDecimalSI:
      return "DecimalSI";
    case Format::kBinarySI:
      return "BinarySI";
    case Format::kDecimalExponent:
      return "DecimalExponent";
  }
  return "unknown";
}

}  // namespace mangrove
