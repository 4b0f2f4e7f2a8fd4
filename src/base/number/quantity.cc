#include "base/number/quantity.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/number/wide_decimal.h"

namespace mangrove {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int kNano = -WideDecimal::kFractionDigits;
// 10^19 is the largest power that times any int64 still fits 128 bits.
constexpr int kMaxAlign = 19;

constexpr auto kPower10 = [] {
  std::array<Int128, kMaxAlign + 4> powers{};
  Int128 power = 1;
  for (Int128& entry : powers) {
    entry = power;
    power *= 10;
  }
  return powers;
}();

Int128 power10(int exponent) {
  return kPower10[static_cast<size_t>(exponent)];
}

int64_t saturate(Int128 value) {
  if (value > kMax) return kMax;
  if (value < kMin) return kMin;
  return static_cast<int64_t>(value);
}

int64_t truncate(double value) {
  constexpr double kEnd = 0x1.0p63;
  if (std::isnan(value)) return 0;
  if (value >= kEnd) return kMax;
  if (value < -kEnd) return kMin;
  return static_cast<int64_t>(value);
}

int64_t divideAwayFromZero(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  if (value % divisor == 0) return quotient;
  return quotient + (value > 0 ? 1 : -1);
}

int64_t scaledSmall(int64_t mantissa, int scale, int target) {
  if (mantissa == 0 || scale == target) return mantissa;
  if (scale >= target) {
    if (scale - target > kMaxAlign) return mantissa > 0 ? kMax : kMin;
    return saturate(mantissa * power10(scale - target));
  }
  if (target - scale >= kMaxAlign) return mantissa > 0 ? 1 : -1;
  return divideAwayFromZero(mantissa, static_cast<int64_t>(power10(target - scale)));
}

// The magnitude in digits, cut at `target` and rounded away from zero when something was cut.
int64_t scaledWide(const WideDecimal& amount, int target) {
  std::string digits = amount.digits();
  const bool negative = amount.negative();
  const int cut = target - kNano;
  bool rest = false;
  if (cut < 0) digits.append(static_cast<size_t>(-cut), '0');
  for (int i = 0; i < cut && !digits.empty(); ++i) {
    rest |= digits.back() != '0';
    digits.pop_back();
  }
  if (digits.size() > kMaxAlign) return negative ? kMin : kMax;
  Int128 value = rest ? 1 : 0;
  Int128 whole = 0;
  for (char digit : digits) whole = whole * 10 + (digit - '0');
  value += whole;
  return saturate(negative ? -value : value);
}

int compareSmall(int64_t a, int aScale, int64_t b, int bScale) {
  if (aScale < bScale) return -compareSmall(b, bScale, a, aScale);
  const int lift = aScale - bScale;
  if (a == 0 || lift > kMaxAlign) {
    // Beyond the alignable range one unit of a outweighs every b.
    const int64_t left = a == 0 ? 0 : (a > 0 ? kMax : kMin);
    const int64_t right = a == 0 ? b : 0;
    return left < right ? -1 : (left > right ? 1 : 0);
  }
  const Int128 lifted = a * power10(lift);
  return lifted < b ? -1 : (lifted > b ? 1 : 0);
}

}  // namespace

Quantity::Quantity(Int128 mantissa, int scale, Format format) : format_(format) {
  while ((mantissa > kMax || mantissa < kMin) && mantissa % 10 == 0) {
    mantissa /= 10;
    ++scale;
  }
  if (mantissa > kMax || mantissa < kMin) {
    adopt(WideDecimal(mantissa, static_cast<size_t>(scale - kNano)));
    return;
  }
  mantissa_ = static_cast<int64_t>(mantissa);
  scale_ = static_cast<int16_t>(mantissa == 0 ? 0 : scale);
}

Quantity::Quantity(WideDecimal amount, Format format) : format_(format) {
  const std::string digits = amount.digits();
  const size_t last = digits.find_last_not_of('0');
  const size_t significant = last == std::string::npos ? 0 : last + 1;
  if (significant > kMaxAlign) {
    adopt(std::move(amount));
    return;
  }
  Int128 mantissa = 0;
  for (size_t i = 0; i < significant; ++i) mantissa = mantissa * 10 + (digits[i] - '0');
  const int scale = kNano + static_cast<int>(digits.size() - significant);
  *this = Quantity(amount.negative() ? -mantissa : mantissa, scale, format);
}

void Quantity::adopt(WideDecimal amount) {
  mantissa_ = std::bit_cast<int64_t>(std::make_unique<WideDecimal>(std::move(amount)).release());
  scale_ = 0;
  isWide_ = true;
}

const WideDecimal& Quantity::widePart() const {
  return *std::bit_cast<const WideDecimal*>(mantissa_);
}

void Quantity::release() {
  if (isWide_) std::unique_ptr<WideDecimal>{std::bit_cast<WideDecimal*>(mantissa_)}.reset();
  isWide_ = false;
  mantissa_ = 0;
  scale_ = 0;
}

Quantity::Quantity(const Quantity& other)
    : mantissa_(other.mantissa_), scale_(other.scale_), format_(other.format_) {
  if (other.isWide_) adopt(other.widePart());
}

Quantity::Quantity(Quantity&& other) noexcept
    : mantissa_(other.mantissa_),
      scale_(other.scale_),
      format_(other.format_),
      isWide_(std::exchange(other.isWide_, false)) {
  other.release();
}

Quantity& Quantity::operator=(const Quantity& other) {
  return *this = Quantity(other);
}

Quantity& Quantity::operator=(Quantity&& other) noexcept {
  std::swap(mantissa_, other.mantissa_);
  std::swap(scale_, other.scale_);
  std::swap(format_, other.format_);
  std::swap(isWide_, other.isWide_);
  return *this;
}

Quantity Quantity::of(int64_t mantissa, int scale, Format format) {
  CHECK(scale >= kNano && scale < 1000, "scale {}", scale);
  return Quantity(Int128{mantissa}, scale, format);
}

Quantity Quantity::ofMilli(int64_t milli, Format format) {
  return Quantity(Int128{milli}, -3, format);
}

Quantity Quantity::withFormat(Format format) const {
  Quantity out = *this;
  out.format_ = format;
  return out;
}

int Quantity::sign() const {
  if (isWide_) return widePart().negative() ? -1 : 1;
  return mantissa_ < 0 ? -1 : (mantissa_ > 0 ? 1 : 0);
}

WideDecimal Quantity::wide() const {
  if (isWide_) return widePart();
  return WideDecimal(Int128{mantissa_}, static_cast<size_t>(scale_ - kNano));
}

int64_t Quantity::scaled(int scale) const {
  return isWide_ ? scaledWide(widePart(), scale) : scaledSmall(mantissa_, scale_, scale);
}

bool Quantity::isExact(int scale) const {
  return *this == of(scaled(scale), scale);
}

bool Quantity::isInteger() const {
  return isWide_ ? widePart().isInteger() : scale_ >= 0 || isExact(0);
}

int Quantity::compare(const Quantity& other) const {
  if (isWide_ || other.isWide_) return wide().compare(other.wide());
  return compareSmall(mantissa_, scale_, other.mantissa_, other.scale_);
}

Quantity Quantity::operator+(const Quantity& other) const {
  if (isZero()) return other;
  if (other.isZero()) return *this;
  if (!isWide_ && !other.isWide_) {
    const int low = std::min(scale_, other.scale_);
    const int lift = std::max(scale_, other.scale_) - low;
    if (lift <= kMaxAlign) {
      const Int128 sum =
          mantissa_ * power10(scale_ - low) + other.mantissa_ * power10(other.scale_ - low);
      return Quantity(sum, low, format_);
    }
  }
  return Quantity(wide().plus(other.wide()), format_);
}

Quantity Quantity::operator-(const Quantity& other) const {
  const Format format = isZero() ? other.format_ : format_;
  return (*this + -other).withFormat(format);
}

Quantity Quantity::operator-() const {
  if (isWide_) return Quantity(widePart().negated(), format_);
  return Quantity(-Int128{mantissa_}, scale_, format_);
}

double Quantity::approximate() const {
  constexpr int64_t kExact = int64_t{1} << 53;
  constexpr int kExactPower = 22;  // 10^22 is the largest power of ten a double holds exactly
  if (!isWide_ && std::abs(scale_) <= kExactPower && mantissa_ <= kExact && mantissa_ >= -kExact) {
    const auto base = static_cast<double>(mantissa_);
    const auto power = static_cast<double>(power10(std::abs(scale_)));
    return scale_ < 0 ? base / power : base * power;
  }
  std::string text;
  appendDecimal(text, Format::kDecimalExponent);
  double nearest = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nearest);
  if (error == std::errc::result_out_of_range)
    return sign() * std::numeric_limits<double>::infinity();
  return nearest;
}

// The reference reads an amount of -2^63 and below as 0 here (its negative wide amounts lose the
// upper bits), and recorded results say so. Everything else out of range is held at the end of
// int64.
Quantity Quantity::mulMilli(double factor) const {
  const int64_t milli = value() == kMin ? 0 : milliValue();
  return ofMilli(truncate(static_cast<double>(milli) * factor), format_);
}

Quantity Quantity::mul(double factor) const {
  const int64_t whole = value() == kMin ? 0 : value();
  return of(truncate(static_cast<double>(whole) * factor), 0, format_);
}

}  // namespace mangrove
