#pragma once
// The names of control resources: the only place besides the table of control_files.h that spells
// them (scripts/layers.py check refuses them elsewhere). A name is what v1 calls the file, or v2
// where v1 has none; the table knows the file of either version.
//
//   kernel::filePath(trees, *kernel::findResource(resource_name::kCpuQuota), cgroup)

#include <string_view>

namespace mangrove::kernel::resource_name {

inline constexpr std::string_view kCpuUsage = "cpuacct.usage";
inline constexpr std::string_view kCpuStat = "cpu.stat";
inline constexpr std::string_view kCpuShares = "cpu.shares";
inline constexpr std::string_view kCpuQuota = "cpu.cfs_quota_us";
inline constexpr std::string_view kCpuPeriod = "cpu.cfs_period_us";
inline constexpr std::string_view kCpuBurst = "cpu.cfs_burst_us";
inline constexpr std::string_view kGroupIdentity = "cpu.bvt_warp_ns";  // Anolis
inline constexpr std::string_view kCpuIdle = "cpu.idle";
inline constexpr std::string_view kCpuset = "cpuset.cpus";
inline constexpr std::string_view kCpusetMems = "cpuset.mems";
inline constexpr std::string_view kCpusetEffective = "cpuset.cpus.effective";  // v2
inline constexpr std::string_view kProcs = "cgroup.procs";
inline constexpr std::string_view kTasks = "tasks";
inline constexpr std::string_view kPidsMax = "pids.max";

inline constexpr std::string_view kMemoryLimit = "memory.limit_in_bytes";
inline constexpr std::string_view kMemoryUsage = "memory.usage_in_bytes";
inline constexpr std::string_view kMemoryStat = "memory.stat";
inline constexpr std::string_view kMemoryNumaStat = "memory.numa_stat";
inline constexpr std::string_view kMemoryMin = "memory.min";
inline constexpr std::string_view kMemoryLow = "memory.low";
inline constexpr std::string_view kMemoryHigh = "memory.high";
inline constexpr std::string_view kMemoryReclaim = "memory.reclaim";  // v2
inline constexpr std::string_view kOomGroup = "memory.oom.group";
inline constexpr std::string_view kMemoryPriority = "memory.priority";  // Anolis, and those below
inline constexpr std::string_view kPriorityOom = "memory.use_priority_oom";
inline constexpr std::string_view kWmarkRatio = "memory.wmark_ratio";
inline constexpr std::string_view kWmarkScale = "memory.wmark_scale_factor";
inline constexpr std::string_view kWmarkMinAdj = "memory.wmark_min_adj";
inline constexpr std::string_view kIdlePageStats = "memory.idle_page_stats";
inline constexpr std::string_view kPageCacheEnable = "memory.pagecache_limit.enable";
inline constexpr std::string_view kPageCacheSize = "memory.pagecache_limit.size";
inline constexpr std::string_view kPageCacheSync = "memory.pagecache_limit.sync";

inline constexpr std::string_view kReadIops = "blkio.throttle.read_iops_device";  // v1
inline constexpr std::string_view kReadBps = "blkio.throttle.read_bps_device";
inline constexpr std::string_view kWriteIops = "blkio.throttle.write_iops_device";
inline constexpr std::string_view kWriteBps = "blkio.throttle.write_bps_device";
inline constexpr std::string_view kBlkioCostWeight = "blkio.cost.weight";
inline constexpr std::string_view kBlkioCostQos = "blkio.cost.qos";
inline constexpr std::string_view kBlkioCostModel = "blkio.cost.model";
inline constexpr std::string_view kBlkioBfqWeight = "blkio.bfq.weight";
inline constexpr std::string_view kIoServed = "blkio.throttle.io_service_bytes";  // read only
inline constexpr std::string_view kIoMax = "io.max";                              // v2
inline constexpr std::string_view kIoWeight = "io.weight";
inline constexpr std::string_view kIoBfqWeight = "io.bfq.weight";
inline constexpr std::string_view kIoLatency = "io.latency";
inline constexpr std::string_view kIoCostQos = "io.cost.qos";
inline constexpr std::string_view kIoCostModel = "io.cost.model";
inline constexpr std::string_view kNetClass = "net_cls.classid";

// Pressure files have the same name everywhere; Hierarchies::pressurePath says where.
inline constexpr std::string_view kCpuPressure = "cpu.pressure";
inline constexpr std::string_view kMemoryPressure = "memory.pressure";
inline constexpr std::string_view kIoPressure = "io.pressure";

// Of every cgroup of version 2, whatever its controllers; freeze and kill also beside the pressure
// files of a hybrid machine.
inline constexpr std::string_view kCgroupFreeze = "cgroup.freeze";
inline constexpr std::string_view kCgroupKill = "cgroup.kill";
inline constexpr std::string_view kCgroupControllers = "cgroup.controllers";
inline constexpr std::string_view kSubtreeControl = "cgroup.subtree_control";
inline constexpr std::string_view kCgroupType = "cgroup.type";

}  // namespace mangrove::kernel::resource_name
