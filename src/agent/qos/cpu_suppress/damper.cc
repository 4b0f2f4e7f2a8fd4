#include "agent/qos/cpu_suppress/damper.h"

#include <algorithm>
#include <cmath>

#include "agent/qos/cpu_suppress/pick.h"
#include "agent/qos/cpu_suppress/quota.h"

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

// A shrinking budget counts as it is, a growing one as far as it has lasted.
MilliCpu SuppressPace::lasting(MonoTime at, MilliCpu budget, MilliCpu present) {
  steady_.add(at, static_cast<double>(budget.v));
  if (budget <= present) return budget;
  return std::max(present, std::min(budget, MilliCpu{std::llround(*steady_.value())}));
}

kernel::CpuQuota SuppressPace::quota(MonoTime at, MilliCpu budget, int64_t capacityCores,
                                     kernel::CpuQuota present) {
  const bool isFree = present.isNone();
  const MilliCpu has = isFree ? budget : MilliCpu{present.us() * 1000 / kernel::kCfsPeriodUs};
  const MilliCpu worth = lasting(at, budget, has);
  kernel::CpuQuota quota = suppressQuota(worth, capacityCores, present);
  if (!isFree && quota > present && !isWorthGrowing(has.v, worth.v)) quota = present;
  if (!isFree) quota = kernel::CpuQuota::ofUs(quotaDamper_.next(at, present.us(), quota.us()));
  return quota;
}

// Whole CPUs, so that growth can be held back.
MilliCpu SuppressPace::cpus(MonoTime at, MilliCpu budget, size_t present, size_t processors) {
  if (present == 0) return budget;
  const MilliCpu has{static_cast<int64_t>(present) * 1000};
  const MilliCpu worth = lasting(at, budget, has);
  size_t wanted = suppressCount(worth, present, processors);
  if (!isWorthGrowing(has.v, worth.v)) wanted = std::min(wanted, present);
  const int64_t count =
      countDamper_.next(at, static_cast<int64_t>(present), static_cast<int64_t>(wanted));
  return std::min(budget, MilliCpu{count * 1000});
}

}  // namespace mangrove::agent
