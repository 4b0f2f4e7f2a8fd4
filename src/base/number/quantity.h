#pragma once
// Amounts of resources exactly as Kubernetes reads, rounds, adds, compares and prints them
// ("1500m", "4Gi", "12e6"). A quantity is an exact decimal number, never finer than nano, and the
// format it came in. Parsing the usual texts allocates nothing; numbers beyond 18 digits fall back
// to exact arithmetic of any length.
//
//   Result<Quantity> limit = Quantity::parse("1.5Gi");
//   limit->text();                      // "1536Mi"
//   limit->bytes();                     // Bytes{1610612736}
//   (*limit + *Quantity::parse("1")).text();
//
// Values: copy and move freely; const access from any thread. 16 bytes.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/number/int128.h"
#include "base/number/units.h"
#include "base/result.h"

namespace mangrove {

class WideDecimal;

class Quantity {
 public:
  enum class Format : uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

  // Zero, DecimalSI.
  Quantity() = default;
  // mantissa * 10^scale; scale in [-9, 999].
  static Quantity of(int64_t mantissa, int scale = 0, Format format = Format::kDecimalSI);
  static Quantity ofMilli(int64_t milli, Format format = Format::kDecimalSI);
  static Quantity of(MilliCpu cpu) { return ofMilli(cpu.v); }
  static Quantity of(Bytes bytes) { return of(bytes.v, 0, Format::kBinarySI); }

  // What Kubernetes accepts, as text or as the text of a JSON number. Finer than nano rounds away
  // from zero; a binary amount beyond 2^63-1 is capped there; text without a digit ("-", "Ki",
  // "e3") is 0; empty text is an error.
  // Amounts of 10^1000 and more are refused, so that a short text cannot ask for endless memory.
  static Result<Quantity> parse(std::string_view text);
  // A JSON string's content or a JSON number's text: as parse, but blanks around it are skipped.
  static Result<Quantity> parseJson(std::string_view text);

  Quantity(const Quantity& other);
  Quantity(Quantity&& other) noexcept;
  Quantity& operator=(const Quantity& other);
  Quantity& operator=(Quantity&& other) noexcept;
  ~Quantity() { release(); }

  // Canonical text: no fraction, the largest suffix that loses nothing.
  std::string text() const;
  void appendTo(std::string& out) const;

  Format format() const { return format_; }
  Quantity withFormat(Format format) const;
  int sign() const;  // -1, 0, 1
  bool isZero() const { return sign() == 0; }

  // The amount in units of 10^scale, rounded away from zero, held at the ends of int64 when it does
  // not fit.
  int64_t scaled(int scale) const;
  int64_t value() const { return scaled(0); }
  int64_t milliValue() const { return scaled(-3); }
  // The same as types: cores in thousandths, bytes.
  MilliCpu milliCpu() const { return {milliValue()}; }
  Bytes bytes() const { return {value()}; }
  // True when scaled(scale) is the exact amount.
  bool isExact(int scale) const;
  // The nearest double; for ratios and display, never for accounting.
  double approximate() const;

  // Exact. The result has the format of the left side, or of the right one when the left is zero.
  Quantity operator+(const Quantity& other) const;
  Quantity operator-(const Quantity& other) const;
  Quantity operator-() const;
  Quantity& operator+=(const Quantity& other) { return *this = *this + other; }
  Quantity& operator-=(const Quantity& other) { return *this = *this - other; }

  // Amounts compare; formats and texts do not take part.
  int compare(const Quantity& other) const;
  bool operator==(const Quantity& other) const { return compare(other) == 0; }
  std::strong_ordering operator<=>(const Quantity& other) const { return compare(other) <=> 0; }

  // trunc(milliValue() * factor) thousandths and trunc(value() * factor), on an IEEE double, toward
  // zero; the format stays: the two ways in which shares of an amount are taken.
  Quantity mulMilli(double factor) const;
  Quantity mul(double factor) const;

 private:
  friend class QuantityParser;

  // From an exact amount; the smallest form that holds it is chosen.
  Quantity(Int128 mantissa, int scale, Format format);
  Quantity(WideDecimal amount, Format format);
  void adopt(WideDecimal amount);
  void release();
  const WideDecimal& widePart() const;
  WideDecimal wide() const;
  bool isInteger() const;
  void appendDecimal(std::string& out, Format format) const;
  bool appendBinary(std::string& out) const;

  // Small: amount = mantissa_ * 10^scale_. Wide, for amounts that no int64 mantissa can hold: the
  // bits of a pointer to the WideDecimal that this object owns.
  int64_t mantissa_ = 0;
  int16_t scale_ = 0;
  Format format_ = Format::kDecimalSI;
  bool isWide_ = false;
};

const char* formatName(Quantity::Format format);  // "DecimalSI", …

}  // namespace mangrove
