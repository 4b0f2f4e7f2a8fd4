#include "agent/qos/cpu_suppress/damper.h"

#include <algorithm>

namespace mangrove::agent {

int Damper::recentCuts(MonoTime now) {
  while (!cuts_.empty() && now - cuts_.front() > options_.memory) cuts_.pop_front();
  return static_cast<int>(cuts_.size());
}

int64_t Damper::next(MonoTime now, int64_t present, int64_t wanted) {
  const int cuts = recentCuts(now);
  if (wanted <= present) {
    if (wanted < present) cuts_.push_back(now);
    return wanted;
  }
  if (!cuts_.empty() && now - cuts_.back() < options_.hold) return present;
  const int halvings = std::min(cuts, options_.mostHalvings);
  return present + std::max<int64_t>((wanted - present) >> halvings, 1);
}

}  // namespace mangrove::agent
