#include "kernel/cpu_units.h"

#include <algorithm>

namespace mangrove::kernel {

int64_t sharesOf(MilliCpu amount) {
  if (amount.v <= 0) return kMinShares;
  return std::clamp((amount * 1024).v / 1000, kMinShares, kMaxShares);
}

int64_t quotaOf(MilliCpu amount, int64_t periodUs) {
  if (amount.v <= 0) return -1;
  return (amount * periodUs).v / 1000;
}

Result<int64_t> weightOfShares(int64_t shares) {
  if (shares < kMinShares || shares > kMaxShares)
    return invalid("cpu.shares {}: want {} to {}", shares, kMinShares, kMaxShares);
  return 1 + (shares - kMinShares) * (kMaxWeight - kMinWeight) / (kMaxShares - kMinShares);
}

Result<int64_t> sharesOfWeight(int64_t weight) {
  if (weight < kMinWeight || weight > kMaxWeight)
    return invalid("cpu.weight {}: want {} to {}", weight, kMinWeight, kMaxWeight);
  return (weight - kMinWeight) * (kMaxShares - kMinShares) / (kMaxWeight - kMinWeight) + kMinShares;
}

}  // namespace mangrove::kernel
