#pragma once
// Names of the control resources that are read all the time, so that nobody else spells a control
// file. Each is a name in the table of control_files.h, which knows the file of either version.

#include <string_view>

namespace mangrove::kernel::resource_name {

inline constexpr std::string_view kCpuUsage = "cpuacct.usage";
inline constexpr std::string_view kCpuStat = "cpu.stat";
inline constexpr std::string_view kCpuQuota = "cpu.cfs_quota_us";
inline constexpr std::string_view kCpuPeriod = "cpu.cfs_period_us";
inline constexpr std::string_view kCpuset = "cpuset.cpus";
inline constexpr std::string_view kCpusetEffective = "cpuset.cpus.effective";  // v2
inline constexpr std::string_view kMemoryStat = "memory.stat";
inline constexpr std::string_view kMemoryUsage = "memory.usage_in_bytes";
inline constexpr std::string_view kMemoryNumaStat = "memory.numa_stat";
inline constexpr std::string_view kIdlePageStats = "memory.idle_page_stats";
inline constexpr std::string_view kMemoryReclaim = "memory.reclaim";  // v2
// Pressure files have the same name everywhere; Hierarchies::pressurePath says where.
inline constexpr std::string_view kCpuPressure = "cpu.pressure";
inline constexpr std::string_view kMemoryPressure = "memory.pressure";
inline constexpr std::string_view kIoPressure = "io.pressure";

// Beside the pressure files.
inline constexpr std::string_view kCgroupFreeze = "cgroup.freeze";
inline constexpr std::string_view kCgroupKill = "cgroup.kill";

}  // namespace mangrove::kernel::resource_name
