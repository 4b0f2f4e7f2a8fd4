#pragma once
// Exact decimal numbers of any length in units of 10^-9: the slow path of Quantity, for the rare
// amount beyond 18 digits. Nobody else needs it. Values; const access from any thread.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/number/int128.h"

namespace mangrove {

class WideDecimal {
 public:
  static constexpr int kFractionDigits = 9;

  WideDecimal() = default;  // zero
  // digits * 10^shift units of 10^-9; digits are '0'..'9' only, shift >= 0.
  WideDecimal(bool negative, std::string_view digits, size_t shift);
  WideDecimal(Int128 mantissa, size_t shift);

  bool negative() const { return negative_; }
  bool isZero() const { return limbs_.empty(); }
  WideDecimal negated() const;
  WideDecimal plus(const WideDecimal& other) const;
  int compare(const WideDecimal& other) const;

  void multiply(uint32_t factor);
  uint32_t divide(uint32_t divisor);  // toward zero; returns the remainder of the magnitude
  bool isInteger() const { return limbs_.empty() || limbs_.front() == 0; }

  // The magnitude in units of 10^-9, without leading zeros; "" for zero.
  std::string digits() const;

 private:
  static int compareMagnitude(const WideDecimal& a, const WideDecimal& b);
  void addMagnitude(const WideDecimal& other);
  void subtractMagnitude(const WideDecimal& smaller);
  void trim();

  // Base 10^9, lowest first, no leading zero: the fraction is exactly the first limb.
  std::vector<uint32_t> limbs_;
  bool negative_ = false;
};

}  // namespace mangrove
