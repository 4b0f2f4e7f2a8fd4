#include "kernel/control_files.h"

#include <algorithm>

namespace mangrove::kernel {
namespace {

using enum Controller;
using enum Support;

constexpr ControlResource kResources[] = {
    {"cpuacct.usage", kCpuacct, "cpuacct.usage", "cpu.stat"},
    {"cpu.stat", kCpu, "cpu.stat", "cpu.stat"},
    {"cpu.shares", kCpu, "cpu.shares", "cpu.weight"},
    {"cpu.cfs_quota_us", kCpu, "cpu.cfs_quota_us", "cpu.max"},
    {"cpu.cfs_period_us", kCpu, "cpu.cfs_period_us", "cpu.max"},
    {"cpu.cfs_burst_us", kCpu, "cpu.cfs_burst_us", "cpu.max.burst", kProbe},
    {"cpu.bvt_warp_ns", kCpu, "cpu.bvt_warp_ns", "cpu.bvt_warp_ns", kProbe},
    {"cpu.idle", kCpu, "cpu.idle", "cpu.idle", kProbe},
    {"tasks", kCpu, "tasks", "cgroup.threads"},
    {"cgroup.procs", kCpu, "cgroup.procs", "cgroup.procs"},
    {"cpuset.cpus", kCpuset, "cpuset.cpus", "cpuset.cpus"},
    {"cpuset.mems", kCpuset, "cpuset.mems", "cpuset.mems"},
    {"cpuset.cpus.effective", kCpuset, "", "cpuset.cpus.effective"},
    {"pids.max", kPids, "pids.max", "pids.max", kProbe},
    {"cpu.pressure", kCpuacct, "cpu.pressure", "cpu.pressure", kProbe},
    {"memory.pressure", kCpuacct, "memory.pressure", "memory.pressure", kProbe},
    {"io.pressure", kCpuacct, "io.pressure", "io.pressure", kProbe},
    {"memory.limit_in_bytes", kMemory, "memory.limit_in_bytes", "memory.max"},
    {"memory.usage_in_bytes", kMemory, "memory.usage_in_bytes", "memory.current"},
    {"memory.stat", kMemory, "memory.stat", "memory.stat"},
    {"memory.numa_stat", kMemory, "memory.numa_stat", "memory.numa_stat"},
    {"memory.min", kMemory, "memory.min", "memory.min", kV1Probe},
    {"memory.low", kMemory, "memory.low", "memory.low", kV1Probe},
    {"memory.high", kMemory, "memory.high", "memory.high", kV1Probe},
    {"memory.reclaim", kMemory, "", "memory.reclaim", kProbe},
    {"memory.wmark_ratio", kMemory, "memory.wmark_ratio", "memory.wmark_ratio", kProbe},
    {"memory.wmark_scale_factor", kMemory, "memory.wmark_scale_factor", "memory.wmark_scale_factor",
     kProbe},
    {"memory.wmark_min_adj", kMemory, "memory.wmark_min_adj", "memory.wmark_min_adj", kProbe},
    {"memory.priority", kMemory, "memory.priority", "memory.priority", kProbe},
    {"memory.use_priority_oom", kMemory, "memory.use_priority_oom", "memory.use_priority_oom",
     kProbe},
    {"memory.oom.group", kMemory, "memory.oom.group", "memory.oom.group", kProbe},
    {"memory.idle_page_stats", kMemory, "memory.idle_page_stats", "", kProbe},
    {"memory.pagecache_limit.enable", kMemory, "", "memory.pagecache_limit.enable", kProbe},
    {"memory.pagecache_limit.size", kMemory, "", "memory.pagecache_limit.size", kProbe},
    {"memory.pagecache_limit.sync", kMemory, "", "memory.pagecache_limit.sync", kProbe},
    {"blkio.throttle.read_iops_device", kBlkio, "blkio.throttle.read_iops_device", "", kProbe},
    {"blkio.throttle.read_bps_device", kBlkio, "blkio.throttle.read_bps_device", "", kProbe},
    {"blkio.throttle.write_iops_device", kBlkio, "blkio.throttle.write_iops_device", "", kProbe},
    {"blkio.throttle.write_bps_device", kBlkio, "blkio.throttle.write_bps_device", "", kProbe},
    {"blkio.cost.weight", kBlkio, "blkio.cost.weight", "", kProbe},
    {"blkio.cost.qos", kBlkio, "blkio.cost.qos", "", kProbe},
    {"blkio.cost.model", kBlkio, "blkio.cost.model", "", kProbe},
    {"blkio.bfq.weight", kBlkio, "blkio.bfq.weight", "", kProbe},
    {"blkio.throttle.io_service_bytes", kBlkio, "blkio.throttle.io_service_bytes", "io.stat",
     kProbe},
    {"io.max", kBlkio, "", "io.max", kProbe},
    {"io.weight", kBlkio, "", "io.weight", kProbe},
    {"io.bfq.weight", kBlkio, "", "io.bfq.weight", kProbe},
    {"io.latency", kBlkio, "", "io.latency", kProbe},
    {"io.cost.qos", kBlkio, "", "io.cost.qos", kProbe},
    {"io.cost.model", kBlkio, "", "io.cost.model", kProbe},
    {"net_cls.classid", kNetCls, "net_cls.classid", "net_cls.classid", kProbe},
};

}  // namespace

std::span<const ControlResource> controlResources() {
  return kResources;
}

const ControlResource* findResource(std::string_view name) {
  const auto* found = std::find_if(std::begin(kResources), std::end(kResources),
                                   [&](const ControlResource& r) { return r.name == name; });
  return found == std::end(kResources) ? nullptr : found;
}

std::optional<std::string> filePath(const Hierarchies& trees, const ControlResource& resource,
                                    std::string_view cgroup) {
  if (!resource.in(trees.version())) return std::nullopt;
  return joinPath({trees.path(resource.controller, cgroup), resource.fileOf(trees.version()).name});
}

}  // namespace mangrove::kernel
