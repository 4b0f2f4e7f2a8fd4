#pragma once
// Between the scales in which CPU is given: milli-cores, cpu.shares (v1), cpu.weight (v2), quota.
//
//   sharesOf(MilliCpu{1000})  1024          weightOfShares(1024)  39
//   quotaOf(MilliCpu{1500})   150000 µs of a period of 100000
//
// Pure functions.

#include <cstdint>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::kernel {

inline constexpr int64_t kMinShares = 2, kMaxShares = 262144;
inline constexpr int64_t kMinWeight = 1, kMaxWeight = 10000;
inline constexpr int64_t kCfsPeriodUs = 100000;  // the kernel's default, and the kubelet's

// 1024 a core, rounded down, kept within the kernel's range; nothing asked for is the minimum.
int64_t sharesOf(MilliCpu amount);
// -1 (no limit) for nothing or less.
int64_t quotaOf(MilliCpu amount, int64_t periodUs = kCfsPeriodUs);

// Out of the kernel's range is an error.
Result<int64_t> weightOfShares(int64_t shares);  // 1 + (s - 2) * 9999 / 262142
Result<int64_t> sharesOfWeight(int64_t weight);  // (w - 1) * 262142 / 9999 + 2

}  // namespace mangrove::kernel
