#include "sim/batch_limit.h"

#include <algorithm>

#include "agent/qos/cpu_suppress/pick.h"

namespace mangrove::sim {

double BatchLimit::cores() const {
  const auto all = static_cast<double>(cores_);
  if (!isOn_) return all;
  if (byQuota_)
    return quota_.isNone() ? all
                           : std::min(all, static_cast<double>(quota_.us()) / kernel::kCfsPeriodUs);
  return count_ == 0 ? all : static_cast<double>(count_);
}

void BatchLimit::tick(Seconds at, MilliCpu budget) {
  const MonoTime now{std::chrono::seconds(at)};
  ticks_++;
  if (byQuota_) {
    quota_ = pace_.quota(now, budget, cores_, quota_);
    return;
  }
  const auto processors = static_cast<size_t>(cores_);
  const MilliCpu worth = pace_.cpus(now, budget, count_, processors);
  count_ = std::min(agent::suppressCount(worth, count_ == 0 ? processors : count_, processors),
                    processors);
}

bool BatchLimit::isSettled(double before, MilliCpu budget) const {
  const auto has = static_cast<int64_t>(cores() * 1000);
  return cores() == before && !agent::isWorthGrowing(has, budget.v);
}

double BatchLimit::over(Seconds from, Seconds length, MilliCpu budget) {
  if (!isOn_) return cores();
  double sum = 0;
  for (Seconds i = 0; i < length; i++) {
    const double before = cores();
    tick(from + i, budget);
    sum += cores();
    if (stepping_ == Stepping::kExact || !isSettled(before, budget) || i + 2 >= length) continue;
    sum += cores() * static_cast<double>(length - 2 - i);
    i = length - 2;
  }
  return sum / static_cast<double>(length);
}

}  // namespace mangrove::sim
