#include "agent/qos/cpu_burst/throttle_window.h"

namespace mangrove::agent {

bool isShortOfQuota(const PeriodCount& seen, const ThrottleOptions& options) {
  if (seen.throttled < options.leastThrottled) return false;
  return seen.throttled * 100 > seen.passed * options.sharePercent;
}

void ThrottleWindow::add(MonoTime at, const PeriodCount& count) {
  if (count.passed > 0) seen_.emplace_back(at, count);
}

bool ThrottleWindow::isShort(MonoTime at) {
  std::erase_if(seen_, [&](const auto& one) { return at - one.first >= options_.window; });
  PeriodCount sum;
  for (const auto& [when, count] : seen_) {
    sum.passed += count.passed;
    sum.throttled += count.throttled;
  }
  return isShortOfQuota(sum, options_);
}

}  // namespace mangrove::agent
