#include "agent/qos/cpu_suppress/quota.h"

#include <algorithm>
#include <cstdlib>

namespace mangrove::agent {
namespace {

constexpr int64_t kPeriod = 100'000;  // microseconds

}  // namespace

int64_t suppressQuota(MilliCpu budget, int64_t capacityCores, int64_t present) {
  const int64_t wanted = std::max((budget * kPeriod / 1000).v, kLeastQuota);
  // No limit is not a number to compare with: under overload it must give way at once.
  if (present == kUnlimitedQuota) return wanted;
  const int64_t whole = capacityCores * kPeriod;
  if (wanted != kLeastQuota && std::abs(wanted - present) < whole / 100) return present;
  return std::min(wanted, present + whole / 10);
}

int64_t safeQuota(MilliCpu capacity, Percent promised) {
  const MilliCpu least = capacity * promised.v / 100;
  const MilliCpu generous = std::max(MilliCpu{2000}, least) * 5 / 4;
  const MilliCpu safe = std::max(least, std::min(generous, capacity / 2));
  return std::max((safe * kPeriod / 1000).v, kLeastQuota);
}

}  // namespace mangrove::agent
