#include "agent/qos/cpu_suppress/quota.h"

#include <algorithm>
#include <cstdlib>

namespace mangrove::agent {
namespace {

using kernel::CpuQuota;

CpuQuota quotaFor(MilliCpu amount) {
  return CpuQuota::ofUs(std::max((amount * kernel::kCfsPeriodUs / 1000).v, kLeastQuota));
}

}  // namespace

CpuQuota suppressQuota(MilliCpu budget, int64_t capacityCores, CpuQuota present) {
  const CpuQuota wanted = quotaFor(budget);
  // No limit is not a number to compare with: under overload it must give way at once.
  if (present.isNone()) return wanted;
  const int64_t whole = capacityCores * kernel::kCfsPeriodUs;
  if (wanted.us() != kLeastQuota && std::abs(wanted.us() - present.us()) < whole / 100)
    return present;
  return std::min(wanted, present + CpuQuota::ofUs(whole / 10));
}

CpuQuota safeQuota(MilliCpu capacity, Percent promised) {
  const MilliCpu least = capacity * promised.v / 100;
  const MilliCpu generous = std::max(MilliCpu{2000}, least) * 5 / 4;
  const MilliCpu safe = std::max(least, std::min(generous, capacity / 2));
  return quotaFor(safe);
}

}  // namespace mangrove::agent
