#pragma once
// What a cgroup's statistics files say, of both cgroup versions. Each parser is one pass over the
// text and allocates nothing unless it fails.
//
//   Result<CpuThrottling> t = parseThrottling(text, CgroupVersion::kV2);
//   Result<MemoryUsage> m = parseMemoryStat(text, CgroupVersion::kV1);

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/number/units.h"
#include "base/result.h"
#include "kernel/cgroup_version.h"
#include "kernel/cpu_quota.h"

namespace mangrove::kernel {

// cpuacct.usage (v1): nanoseconds. cpu.stat (v2): usage_usec.
Result<Duration> parseCpuUsage(std::string_view text, CgroupVersion version);

// cpu.stat. nr_periods may be negative in what broken kernels say; the ratio below copes.
struct CpuThrottling {
  int64_t periods = 0;
  int64_t throttled = 0;
  Duration throttledTime{};
  bool operator==(const CpuThrottling&) const = default;
};
Result<CpuThrottling> parseThrottling(std::string_view text, CgroupVersion version);
// Share of the periods between two readings that were cut short; 0 when no period passed.
double throttledRatio(const CpuThrottling& before, const CpuThrottling& now);
// Time tasks of the group waited for a CPU (v1 kernels with schedstats: wait_sum); nullopt
// elsewhere.
std::optional<Duration> parseRunQueueWait(std::string_view text);

// memory.stat: of v1 the total_* rows, so that children count.
struct MemoryUsage {
  Bytes withoutCache;  // anonymous and unevictable pages
  Bytes withCache;     // plus file pages
  bool operator==(const MemoryUsage&) const = default;
};
Result<MemoryUsage> parseMemoryStat(std::string_view text, CgroupVersion version);

// memory.numa_stat. `pages` is what the reference reports: of v1 the row "total" in the kernel's
// own pages, of v2 anon and file in units of 4 KiB each. `unevictable` and `anon` are bytes, by
// which ours subtracts pods from a NUMA node without their file pages.
inline constexpr size_t kMaxNumaNodes = 64;
struct NumaShare {
  bool present = false;  // v1 leaves out nodes without memory
  int64_t pages = 0;
  Bytes anon;
  Bytes unevictable;
  bool operator==(const NumaShare&) const = default;
};
struct NumaStat {
  std::array<NumaShare, kMaxNumaNodes> nodes{};
  size_t count = 0;  // one more than the largest id
};
// `pageSize` is used for v1, whose rows count pages. Rows of v1 prefer the hierarchical_ kind for
// anon and unevictable.
Result<NumaStat> parseNumaStat(std::string_view text, CgroupVersion version, Bytes pageSize);

// memory.idle_page_stats of kernels with kidled: bytes of file pages that were idle for at least
// the bucket `boundary` (5: about 300 s at a scan every 5 s).
Result<Bytes> parseColdPages(std::string_view text, int boundary = 5);

// One number, or "max" which becomes `whenMax`. Negative is an error.
Result<int64_t> parseMaxOr(std::string_view text, int64_t whenMax);
// memory.limit_in_bytes, memory.max: -1 is unlimited.
Result<int64_t> parseMemoryLimit(std::string_view text, CgroupVersion version);
// memory.usage_in_bytes, memory.current.
Result<Bytes> parseMemoryCurrent(std::string_view text);

// cpu.max: quota and period in µs; each may fail alone.
struct CpuMax {
  Result<CpuQuota> quota;
  Result<int64_t> periodUs;
};
CpuMax parseCpuMax(std::string_view text);

// io.stat (v2), summed over all devices.
struct IoTotals {
  uint64_t readBytes = 0, writeBytes = 0, readOps = 0, writeOps = 0;
  bool operator==(const IoTotals&) const = default;
};
Result<IoTotals> parseIoStat(std::string_view text);
// blkio.throttle.io_service_bytes or blkio.throttle.io_serviced (v1), into bytes or operations.
Result<IoTotals> parseBlkioBytes(std::string_view text);

// memory.events (v2): how often the group was reclaimed, hit its limit, was killed.
struct MemoryEvents {
  uint64_t low = 0, high = 0, max = 0, oom = 0, oomKill = 0;
  bool operator==(const MemoryEvents&) const = default;
};
Result<MemoryEvents> parseMemoryEvents(std::string_view text);

}  // namespace mangrove::kernel
