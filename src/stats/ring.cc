#include "stats/ring.h"

#include <algorithm>

namespace mangrove::stats {

bool Ring::push(MonoTime at, double value) {
  if (!empty() && at < newest().at) return false;
  if (size_ < capacity_) {
    points_[slot(size_++)] = {at, value};
  } else {
    points_[begin_] = {at, value};
    begin_ = slot(1);
  }
  return true;
}

Ring::Window Ring::all() const {
  return {*this, 0, size_};
}

Ring::Window Ring::between(MonoTime from, MonoTime to) const {
  const size_t first = countBefore(from, false);
  const size_t end = countBefore(to, true);
  return {*this, first, end > first ? end - first : 0};
}

size_t Ring::countBefore(MonoTime at, bool inclusive) const {
  size_t low = 0;
  size_t high = size_;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const MonoTime t = (*this)[middle].at;
    if (t < at || (inclusive && t == at)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::span<double> Ring::Window::copyTo(std::span<double> out) const {
  const size_t n = std::min(out.size(), count_);
  for (size_t i = 0; i < n; ++i) out[i] = (*ring_)[first_ + i].value;
  return out.first(n);
}

}  // namespace mangrove::stats
