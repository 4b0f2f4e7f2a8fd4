#pragma once
// Exponentially weighted moving average for samples at irregular times: a sample's influence halves
// every half-life, however many samples came in between. After a gap of one half-life the new value
// and the past count equally: 2^-1 * old + (1 - 2^-1) * new.
//
// A small value; one owner. The first sample is the average.
//
//   Ewma load(std::chrono::seconds(30));
//   load.add(clock.mono(), cores);
//   if (auto v = load.value()) …

#include <cmath>
#include <optional>

#include "base/check.h"
#include "base/number/units.h"

namespace mangrove::stats {

class Ewma {
 public:
  explicit Ewma(Duration halfLife) : halfLife_(halfLife) {
    CHECK(halfLife.count() > 0, "half-life {} ns", halfLife.count());
  }

  // A sample that is not younger than the last one cannot say how much time it stands for and is
  // ignored.
  void add(MonoTime at, double sample) {
    if (!hasValue_) {
      value_ = sample;
      hasValue_ = true;
    } else if (at > last_) {
      const double kept = std::exp2(-static_cast<double>((at - last_).count()) /
                                    static_cast<double>(halfLife_.count()));
      value_ = kept * value_ + (1 - kept) * sample;
    } else {
      return;
    }
    last_ = at;
  }

  std::optional<double> value() const { return hasValue_ ? std::optional(value_) : std::nullopt; }
  // Time of the sample that was counted last; meaningless while value() is empty.
  MonoTime last() const { return last_; }
  void reset() { hasValue_ = false; }

 private:
  Duration halfLife_;
  double value_ = 0;
  bool hasValue_ = false;
  MonoTime last_{};
};

}  // namespace mangrove::stats
