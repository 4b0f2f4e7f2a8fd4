#include "base/number/wide_decimal.h"

#include <algorithm>

#include "base/check.h"

namespace mangrove {
namespace {

constexpr uint32_t kBase = 1000000000;
constexpr size_t kLimbDigits = 9;

std::string magnitudeDigits(Int128 value) {
  Uint128 rest = value < 0 ? -static_cast<Uint128>(value) : static_cast<Uint128>(value);
  std::string out;
  for (; rest != 0; rest /= 10) out += static_cast<char>('0' + static_cast<int>(rest % 10));
  std::reverse(out.begin(), out.end());
  return out;
}

uint32_t limbOf(std::string_view digits) {
  uint32_t limb = 0;
  for (char digit : digits) limb = limb * 10 + static_cast<uint32_t>(digit - '0');
  return limb;
}

}  // namespace

WideDecimal::WideDecimal(bool negative, std::string_view digits, size_t shift)
    : negative_(negative) {
  limbs_.assign(shift / kLimbDigits, 0);
  std::string padded(digits);
  padded.append(shift % kLimbDigits, '0');
  for (size_t end = padded.size(); end > 0;) {
    const size_t begin = end > kLimbDigits ? end - kLimbDigits : 0;
    limbs_.push_back(limbOf(std::string_view(padded).substr(begin, end - begin)));
    end = begin;
  }
  trim();
}

WideDecimal::WideDecimal(Int128 mantissa, size_t shift)
    : WideDecimal(mantissa < 0, magnitudeDigits(mantissa), shift) {}

void WideDecimal::trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  if (limbs_.empty()) negative_ = false;
}

WideDecimal WideDecimal::negated() const {
  WideDecimal out = *this;
  out.negative_ = !negative_ && !isZero();
  return out;
}

WideDecimal WideDecimal::plus(const WideDecimal& other) const {
  if (negative_ == other.negative_) {
    WideDecimal out = *this;
    out.addMagnitude(other);
    return out;
  }
  const bool larger = compareMagnitude(*this, other) >= 0;
  WideDecimal out = larger ? *this : other;
  out.subtractMagnitude(larger ? other : *this);
  return out;
}

int WideDecimal::compare(const WideDecimal& other) const {
  if (negative_ != other.negative_) return negative_ ? -1 : 1;
  const int magnitude = compareMagnitude(*this, other);
  return negative_ ? -magnitude : magnitude;
}

int WideDecimal::compareMagnitude(const WideDecimal& a, const WideDecimal& b) {
  if (a.limbs_.size() != b.limbs_.size()) return a.limbs_.size() < b.limbs_.size() ? -1 : 1;
  for (size_t i = a.limbs_.size(); i-- > 0;) {
    if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] < b.limbs_[i] ? -1 : 1;
  }
  return 0;
}

void WideDecimal::addMagnitude(const WideDecimal& other) {
  limbs_.resize(std::max(limbs_.size(), other.limbs_.size()) + 1);
  uint32_t carry = 0;
  for (size_t i = 0; i < limbs_.size(); ++i) {
    const uint32_t sum = limbs_[i] + (i < other.limbs_.size() ? other.limbs_[i] : 0) + carry;
    carry = sum >= kBase ? 1 : 0;
    limbs_[i] = sum - carry * kBase;
  }
  trim();
}

void WideDecimal::subtractMagnitude(const WideDecimal& smaller) {
  uint32_t borrow = 0;
  for (size_t i = 0; i < limbs_.size(); ++i) {
    const uint32_t take = (i < smaller.limbs_.size() ? smaller.limbs_[i] : 0) + borrow;
    borrow = limbs_[i] < take ? 1 : 0;
    limbs_[i] = limbs_[i] + borrow * kBase - take;
  }
  CHECK(borrow == 0);
  trim();
}

void WideDecimal::multiply(uint32_t factor) {
  uint64_t carry = 0;
  for (uint32_t& limb : limbs_) {
    carry += static_cast<uint64_t>(limb) * factor;
    limb = static_cast<uint32_t>(carry % kBase);
    carry /= kBase;
  }
  for (; carry != 0; carry /= kBase) limbs_.push_back(static_cast<uint32_t>(carry % kBase));
  trim();
}

uint32_t WideDecimal::divide(uint32_t divisor) {
  uint64_t rest = 0;
  for (size_t i = limbs_.size(); i-- > 0;) {
    rest = rest * kBase + limbs_[i];
    limbs_[i] = static_cast<uint32_t>(rest / divisor);
    rest %= divisor;
  }
  trim();
  return static_cast<uint32_t>(rest);
}

std::string WideDecimal::digits() const {
  std::string out;
  for (uint32_t limb : limbs_) {
    for (size_t i = 0; i < kLimbDigits; ++i, limb /= 10) out += static_cast<char>('0' + limb % 10);
  }
  while (!out.empty() && out.back() == '0') out.pop_back();
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace mangrove
