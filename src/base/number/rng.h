#pragma once
// Seeded chance. One Rng per owner; the same seed gives the same numbers on every machine, so a run
// can be replayed. The generator is xoshiro256**, seeded through splitmix64 (both public domain
// algorithms by Blackman and Vigna). Not for secrets. Not thread-safe: each owner has its own,
// split() gives a child an independent one.
//
//   Rng rng(seed);
//   rng.below(nodes.size());                 // without bias
//   rng.jitter(10s, 0.1);                    // 9 s … 11 s

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "base/check.h"
#include "base/number/int128.h"
#include "base/number/units.h"

namespace mangrove {

class Rng {
 public:
  using result_type = uint64_t;  // also a standard UniformRandomBitGenerator
  explicit Rng(uint64_t seed) {
    for (uint64_t& word : state_) word = splitMix(seed);
  }
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return std::numeric_limits<uint64_t>::max(); }
  uint64_t operator()() { return next(); }

  uint64_t next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound), bound > 0. The high half of a product; the few values that would make
  // some results more likely than others are drawn again.
  uint64_t below(uint64_t bound) {
    CHECK(bound > 0, "below({})", bound);
    const uint64_t reject = (0 - bound) % bound;
    for (;;) {
      const auto product = static_cast<Uint128>(next()) * bound;
      if (static_cast<uint64_t>(product) >= reject) return static_cast<uint64_t>(product >> 64);
    }
  }
  // Uniform in [first, last], both included.
  int64_t between(int64_t first, int64_t last) {
    CHECK(first <= last, "between({}, {})", first, last);
    const uint64_t span = static_cast<uint64_t>(last) - static_cast<uint64_t>(first) + 1;
    const uint64_t offset = span == 0 ? next() : below(span);
    return static_cast<int64_t>(static_cast<uint64_t>(first) + offset);
  }
  // Uniform in [0, 1), 53 bits.
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  bool chance(double probability) { return unit() < probability; }

  // `base` moved by up to ± `share` of itself, so that many clients do not act in step. Never below
  // zero.
  Duration jitter(Duration base, double share) {
    const double factor = 1 + share * (2 * unit() - 1);
    return Duration(
        static_cast<int64_t>(static_cast<double>(base.count()) * (factor > 0 ? factor : 0)));
  }
  // An independent generator for a part of the work.
  Rng split() { return Rng(next()); }

 private:
  static uint64_t splitMix(uint64_t& x) {
    uint64_t z = (x += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  std::array<uint64_t, 4> state_;
};

}  // namespace mangrove
