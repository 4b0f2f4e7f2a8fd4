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

}  // namespace mangrove::agent
