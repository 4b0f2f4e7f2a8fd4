#pragma once
// From a growing counter to a rate, refusing what cannot be: a counter that shrinks, time that
// stands still, more CPU than the machine has. A refused reading primes the next one; but one that
// comes back to where the counter was before it shrank is refused too, because then one of the two
// readings was wrong and nobody knows which.
//
//   CpuRate rate;
//   std::optional<double> cores = rate.next(counter, clock.mono(), machine.largestUsage());
//
// A small value; one owner.

#include <cstdint>
#include <optional>
#include <utility>

#include "base/number/units.h"

namespace mangrove::agent {

// Why a reading gave no rate.
enum class RateTrouble : uint8_t { kNone, kFirst, kShrunk, kNoTime, kImplausible, kGap };

class CpuRate {
 public:
  // Readings further apart say nothing about now: the next one starts anew (the reference keeps
  // counters for 20 intervals).
  static constexpr Duration kLongestGap = std::chrono::seconds(20);
  // Above what all CPUs can do by so much, a reading is wrong: clocks and counters are read apart.
  static constexpr double kTolerance = 1.1;
  static constexpr double kSlackCores = 0.5;

  std::optional<double> next(Duration counter, MonoTime at, double largest) {
    auto cores = judge(counter, at, largest);
    if (trouble_ == RateTrouble::kShrunk) {
      stoodAt_ = counter_;
    } else if (stoodAt_ && counter >= *std::exchange(stoodAt_, std::nullopt)) {
      trouble_ = RateTrouble::kImplausible;
      cores.reset();
    }
    counter_ = counter;
    at_ = at;
    primed_ = true;
    return cores;
  }
  RateTrouble trouble() const { return trouble_; }
  bool primed() const { return primed_; }
  void reset() {
    primed_ = false;
    stoodAt_.reset();
  }

 private:
  std::optional<double> judge(Duration counter, MonoTime at, double largest) {
    trouble_ = !primed_                 ? RateTrouble::kFirst
               : counter < counter_     ? RateTrouble::kShrunk
               : at <= at_              ? RateTrouble::kNoTime
               : at - at_ > kLongestGap ? RateTrouble::kGap
                                        : RateTrouble::kNone;
    if (trouble_ != RateTrouble::kNone) return std::nullopt;
    const double cores =
        static_cast<double>((counter - counter_).count()) / static_cast<double>((at - at_).count());
    if (cores > largest * kTolerance + kSlackCores) {
      trouble_ = RateTrouble::kImplausible;
      return std::nullopt;
    }
    return cores;
  }

  Duration counter_{};
  std::optional<Duration> stoodAt_;  // the counter before it shrank, until the next reading
  MonoTime at_{};
  bool primed_ = false;
  RateTrouble trouble_ = RateTrouble::kNone;
};

}  // namespace mangrove::agent
