#include "kernel/cpu_units.h"

#include <algorithm>

#include <fmt/format.h>

namespace mangrove::kernel {

std::string CpuQuota::text(CgroupVersion version) const {
  if (!isNone()) return std::to_string(us_);
  return version == CgroupVersion::kV1 ? "-1" : "max";
}

std::string CpuQuota::withPeriod(int64_t periodUs) const {
  return fmt::format("{} {}", text(CgroupVersion::kV2), periodUs);
}

int64_t sharesOf(MilliCpu amount) {
  if (amount.v <= 0) return kMinShares;
  return std::clamp((amount * 1024).v / 1000, kMinShares, kMaxShares);
}

CpuQuota quotaOf(MilliCpu amount, int64_t periodUs) {
  if (amount.v <= 0) return CpuQuota::none();
  return CpuQuota::ofUs(std::max((amount * periodUs).v / 1000, kLeastQuotaUs));
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

std::string sharesText(int64_t shares, CgroupVersion version) {
  shares = std::clamp(shares, kMinShares, kMaxShares);
  return std::to_string(
      version == CgroupVersion::kV1 ? shares : weightOfShares(shares).value_or(kMinWeight));
}

}  // namespace mangrove::kernel
