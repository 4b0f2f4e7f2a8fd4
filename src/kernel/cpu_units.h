#pragma once
// Between the scales in which CPU is given: milli-cores, cpu.shares (v1), cpu.weight (v2), quota.
//
//   sharesOf(MilliCpu{1000})      1024          weightOfShares(1024)  39
//   quotaOf(MilliCpu{1500}).us()  150000 of a period of 100000
//   quotaOf(MilliCpu{0})          CpuQuota::none()
//
// Pure functions.

#include <cstdint>
#include <string>

#include "base/number/units.h"
#include "base/result.h"
#include "kernel/cgroup_version.h"
#include "kernel/cpu_quota.h"

namespace mangrove::kernel {

inline constexpr int64_t kMinShares = 2, kMaxShares = 262144;
inline constexpr int64_t kMinWeight = 1, kMaxWeight = 10000;

// 1024 a core, rounded down, kept within the kernel's range; nothing asked for is the minimum.
int64_t sharesOf(MilliCpu amount);
// None for nothing or less; never below what the kernel takes.
CpuQuota quotaOf(MilliCpu amount, int64_t periodUs = kCfsPeriodUs);

// Out of the kernel's range is an error.
Result<int64_t> weightOfShares(int64_t shares);  // 1 + (s - 2) * 9999 / 262142
Result<int64_t> sharesOfWeight(int64_t weight);  // (w - 1) * 262142 / 9999 + 2
// What the file of that version takes, kept within its range.
std::string sharesText(int64_t shares, CgroupVersion version);

}  // namespace mangrove::kernel
