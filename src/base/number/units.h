#pragma once
// Units are types: milli-cores do not add to bytes. Arithmetic stays within a unit and saturates at
// the ends of int64, because the amounts come from foreign objects and must never wrap into a
// plausible number.

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>

namespace mangrove {

template <class Tag>
struct Amount {
  int64_t v = 0;

  static constexpr Amount max() { return {std::numeric_limits<int64_t>::max()}; }
  constexpr auto operator<=>(const Amount&) const = default;

  constexpr Amount operator+(Amount o) const {
    int64_t sum = 0;
    return __builtin_add_overflow(v, o.v, &sum) ? saturated(v > 0) : Amount{sum};
  }
  constexpr Amount operator-(Amount o) const {
    int64_t difference = 0;
    return __builtin_sub_overflow(v, o.v, &difference) ? saturated(v > 0 || (v == 0 && o.v < 0))
                                                       : Amount{difference};
  }
  constexpr Amount operator*(int64_t factor) const {
    int64_t product = 0;
    return __builtin_mul_overflow(v, factor, &product) ? saturated((v > 0) == (factor > 0))
                                                       : Amount{product};
  }
  constexpr Amount operator/(int64_t divisor) const { return {v / divisor}; }
  constexpr Amount operator-() const { return Amount{0} - *this; }
  constexpr Amount& operator+=(Amount o) { return *this = *this + o; }
  constexpr Amount& operator-=(Amount o) { return *this = *this - o; }

 private:
  static constexpr Amount saturated(bool up) {
    return {up ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min()};
  }
};

using MilliCpu = Amount<struct MilliCpuTag>;  // 1000 = one core
using Bytes = Amount<struct BytesTag>;
using Percent = Amount<struct PercentTag>;  // 100 = the whole

using Duration = std::chrono::nanoseconds;
// Microseconds hold Kubernetes' zero time (year 1) as well as its finest timestamps (MicroTime).
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;
using MonoTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

inline constexpr Bytes kKiB{1024};
inline constexpr Bytes kMiB{1024 * 1024};
inline constexpr Bytes kGiB{1024 * 1024 * 1024};

}  // namespace mangrove
