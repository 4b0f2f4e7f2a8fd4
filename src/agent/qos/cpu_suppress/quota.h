#pragma once
// The cfsQuota policy: the next quota of the best-effort group for a period of 100 ms. Pure
// function, any thread.

#include <cstdint>

#include "base/number/units.h"
#include "kernel/cpu_quota.h"

namespace mangrove::agent {

inline constexpr int64_t kLeastQuota = 2000;  // microseconds; the kernel refuses less than 1000

// `present`: the quota in force. Changes below one percent of the machine are
// left alone, except down to the least; growth is a tenth of the machine at most.
kernel::CpuQuota suppressQuota(MilliCpu budget, int64_t capacityCores, kernel::CpuQuota present);

// What is safe without knowing anything: two CPUs or what the configuration promises, and a quarter
// more; on small machines half of it, but not less than what is promised.
kernel::CpuQuota safeQuota(MilliCpu capacity, Percent promised);

}  // namespace mangrove::agent
