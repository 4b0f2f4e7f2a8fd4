#include "stats/exponential_buckets.h"

#include <cmath>

#include "base/check.h"

namespace mangrove::stats {
namespace {

// The same sequence of roundings as the reference (quotient of two natural logarithms), because a
// last-bit difference at a bucket's edge would move a sample to the neighbour.
double logarithm(double base, double x) {
  return std::log(x) / std::log(base);
}

}  // namespace

ExponentialBuckets::ExponentialBuckets(double max, double first, double growth)
    : first_(first), growth_(growth) {
  CHECK(max > 0 && first > 0 && growth > 1, "max {} first {} growth {}", max, first, growth);
  count_ = static_cast<size_t>(std::ceil(logarithm(growth, max * (growth - 1) / first + 1))) + 1;
}

double ExponentialBuckets::start(size_t n) const {
  CHECK(n < count_, "bucket {} of {}", n, count_);
  if (n == 0) return 0;
  return first_ * (std::pow(growth_, static_cast<double>(n)) - 1) / (growth_ - 1);
}

size_t ExponentialBuckets::find(double value) const {
  if (!(value >= first_)) return 0;
  const double n = logarithm(growth_, value * (growth_ - 1) / first_ + 1);
  return n < static_cast<double>(count_) ? static_cast<size_t>(n) : count_ - 1;
}

}  // namespace mangrove::stats
