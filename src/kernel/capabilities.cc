#include "kernel/capabilities.h"

#include <compare>
#include <iterator>
#include <vector>

#include "base/text/strings.h"
#include "kernel/control_files.h"
#include "kernel/cpu_info.h"
#include "kernel/cpu_topology.h"
#include "kernel/meminfo.h"
#include "kernel/numa.h"
#include "kernel/read_text.h"

namespace mangrove::kernel {
namespace {

struct Text {
  std::string_view name, title, usedFor;
};
constexpr Text kTexts[] = {
    {"cgroup-v2", "unified cgroup hierarchy", "everything; v1 works as well"},
    {"cgroup-hybrid", "v2 tree beside the v1 ones", "per-pod pressure and kill under v1"},
    {"pods-cgroup", "cgroup of all pods", "pod and container usage"},
    {"cpu", "cpu controller", "usage, shares, quota"},
    {"memory", "memory controller", "usage, limits"},
    {"cpuset", "cpuset controller", "pinning, suppression by CPUs"},
    {"io", "block I/O controller", "I/O limits of best-effort work"},
    {"cpu-idle", "idle scheduling class per cgroup", "best-effort work that yields at once"},
    {"cfs-burst", "CPU quota burst", "short peaks of limited services"},
    {"group-identity", "group identity (bvt)", "priority between cgroups on one core"},
    {"node-pressure", "pressure of the node (PSI)", "early reports, fast cuts"},
    {"cgroup-pressure", "pressure per cgroup (PSI)", "who suffers"},
    {"pressure-short-window", "pressure triggers below 2 s", "cuts within 100 ms"},
    {"memory-reclaim", "proactive memory reclaim", "giving memory back without a limit"},
    {"memory-min", "memory.min and memory.low", "protecting services' memory"},
    {"memory-high", "memory.high", "slowing memory hogs down"},
    {"memory-watermark", "per-cgroup watermarks", "background reclaim of best-effort work"},
    {"memory-priority", "memory priority", "who is killed first"},
    {"oom-group", "kill the whole cgroup on OOM", "no half-dead pods"},
    {"page-cache-limit", "page cache limit", "bounding file caches"},
    {"cold-pages", "idle page statistics (kidled)", "usage without cold page cache"},
    {"cgroup-kill", "kill a cgroup at once", "eviction without stragglers"},
    {"cgroup-freeze", "freeze a cgroup", "stopping best-effort work in an emergency"},
    {"blkio-throttle", "I/O throttling (v1)", "I/O limits of best-effort work"},
    {"io-cost", "I/O cost model", "proportional I/O"},
    {"io-latency", "I/O latency targets", "services first on disks without a cost model"},
    {"net-class", "network class id", "network QoS by tc"},
    {"resctrl", "resctrl file system", "cache and bandwidth control"},
    {"resctrl-monitor", "cache and bandwidth monitoring", "occupancy and bandwidth per class"},
    {"cat-l3", "L3 cache allocation", "keeping batch work out of the cache"},
    {"mba", "memory bandwidth allocation", "keeping batch work off the bus"},
    {"perf-counters", "cycles and instructions", "CPI per container"},
    {"core-sched", "core scheduling", "no foreign work on a sibling thread"},
    {"run-queue-delay", "scheduler statistics", "waiting time per cgroup"},
    {"smt", "several threads per core", "placement by cores"},
    {"numa", "several NUMA nodes", "usage and placement per node"},
    {"swap", "swap space", "reclaim of anonymous memory"},
};
static_assert(std::size(kTexts) == kFeatures);

// Since when every kernel with the controller has the file, whatever it is built for.
struct Release {
  int major = 0, minor = 0;
  auto operator<=>(const Release&) const = default;
};
struct Since {
  std::string_view file;  // as v1 calls it
  Release release;
};
constexpr Since kSince[] = {
    {"cpu.idle", {5, 15}},    {"cpu.cfs_burst_us", {5, 14}}, {"memory.min", {4, 18}},
    {"memory.high", {4, 5}},  {"memory.reclaim", {5, 19}},   {"memory.oom.group", {4, 19}},
    {"cgroup.kill", {5, 14}}, {"cgroup.freeze", {5, 2}},
};

// "6.1.0-13-amd64" is 6.1; 0.0 when it is no such text.
Release releaseOf(std::string_view text) {
  const Halves first = cut(text, '.');
  const std::string_view rest = first.after.substr(0, first.after.find_first_not_of("0123456789"));
  return {parseInt<int>(first.before).value_or(0), parseInt<int>(rest).value_or(0)};
}

}  // namespace

class CapabilityProbe {
 public:
  CapabilityProbe(const SysRoot& root, const Mounts& mounts, const Hierarchies& trees,
                  const CgroupLayout& layout)
      : root_(root), mounts_(mounts), trees_(trees), layout_(layout) {
    for (size_t i = 0; i < kFeatures; ++i)
      out_.findings_[i] = {static_cast<Feature>(i), kTexts[i].name, kTexts[i].title,
                           kTexts[i].usedFor,       false,          "not found"};
  }

  Capabilities run(const LiveFacts& live) {
    hasPods_ = exists(trees_.path(Controller::kCpu, layout_.root()));
    if (trees_.isV2()) children_ = below(trees_.path(Controller::kCpu, ""));
    cgroup_ = someCgroup();
    out_.release_ = readWord(root_, mounts_.procFile("sys/kernel/osrelease")).value_or("");
    versions();
    cpuFiles();
    memoryFiles();
    pressure(live);
    ioAndNet();
    hardware();
    set(Feature::kPerfCounters, live.perf, live.perfDetail);
    set(Feature::kCoreScheduling, live.coreScheduling, live.coreDetail);
    return std::move(out_);
  }

 private:
  void set(Feature feature, bool present, std::string detail) {
    Finding& finding = out_.findings_[static_cast<size_t>(feature)];
    finding.present = present;
    finding.detail = std::move(detail);
  }
  bool exists(const std::string& path) const { return root_.exists(path).value_or(false); }
  void file(Feature feature, const std::string& path) {
    const bool there = exists(path);
    set(feature, there, there ? path : "no " + path);
  }
  // The pods' cgroup; before it exists the root, or under v2, whose root has none of the control
  // files, any other.
  std::string someCgroup() const {
    if (hasPods_) return layout_.root();
    return trees_.isV2() ? anyBelow(trees_.path(Controller::kCpu, "")) : "";
  }
  // The same in the tree that has pressure, which beside v1 is a v2 tree of its own.
  std::string somePressureDir() const {
    std::string pods = trees_.pressurePath(cgroup_);
    if (!cgroup_.empty() && exists(pods)) return pods;
    if (!trees_.isV2() && !trees_.isHybrid()) return pods;
    return trees_.pressurePath(anyBelow(trees_.pressurePath("")));
  }
  std::vector<std::string> below(const std::string& dir) const {
    std::vector<std::string> out;
    if (auto entries = root_.list(dir))
      for (const Entry& entry : *entries)
        if (entry.isDir) out.push_back(entry.name);
    return out;
  }
  std::string anyBelow(const std::string& dir) const {
    const auto all = below(dir);
    return all.empty() ? layout_.root() : all.front();
  }
  // A control file of that cgroup, in this cgroup version.
  void control(Feature feature, std::string_view resource) {
    const ControlResource* known = findResource(resource);
    const auto path = filePath(trees_, *known, cgroup_);
    if (!path)
      return set(feature, false,
                 fmt::format("{} is not in cgroup v{}", resource, trees_.isV2() ? 2 : 1));
    const auto inChild = [&](const std::string& child) { return *filePath(trees_, *known, child); };
    inSomeChild(feature, resource, *path, inChild, trees_.has(known->controller));
  }
  // A file that the root of a v2 tree never has. Before there are pods any cgroup that has it
  // tells; where there is none with the controller, the kernel's release.
  template <class PathOf>
  void inSomeChild(Feature feature, std::string_view resource, const std::string& path,
                   PathOf pathOf, bool hasController) {
    if (exists(path) || hasPods_ || !trees_.isV2()) return file(feature, path);
    for (const std::string& child : children_)
      if (exists(pathOf(child))) return set(feature, true, pathOf(child));
    for (const Since& one : kSince)
      if (one.file == resource && hasController && releaseOf(out_.release_) >= one.release)
        return set(feature, true,
                   fmt::format("Linux {}.{} has it; no cgroup to see it in yet", one.release.major,
                               one.release.minor));
    file(feature, path);
  }
  std::string pods(Controller controller, std::string_view name) const {
    return joinPath({trees_.path(controller, cgroup_), name});
  }

  void versions();
  void cpuFiles();
  void memoryFiles();
  void pressure(const LiveFacts& live);
  void ioAndNet();
  void hardware();
  void allocation(Feature feature, const CpuInfoText& cpu, std::string_view flag,
                  std::string_view dir);

  const SysRoot& root_;
  const Mounts& mounts_;
  const Hierarchies& trees_;
  const CgroupLayout& layout_;
  std::string cgroup_;
  bool hasPods_ = false;
  std::vector<std::string> children_;  // of a v2 tree
  Capabilities out_;
};

void CapabilityProbe::versions() {
  set(Feature::kCgroupV2, trees_.isV2(), trees_.isV2() ? "v2" : "v1 controllers");
  set(Feature::kUnifiedBesideV1, trees_.isHybrid(),
      trees_.isHybrid() ? trees_.pressurePath("") : "none");
  file(Feature::kPodsCgroup, trees_.path(Controller::kCpu, layout_.root()));
  const auto controller = [&](Feature feature, Controller c) {
    set(feature, trees_.has(c), trees_.has(c) ? trees_.path(c, "") : "not mounted or not listed");
  };
  controller(Feature::kCpuController, Controller::kCpu);
  controller(Feature::kMemoryController, Controller::kMemory);
  controller(Feature::kCpusetController, Controller::kCpuset);
  controller(Feature::kIoController, Controller::kBlkio);
}

void CapabilityProbe::cpuFiles() {
  control(Feature::kCpuIdle, "cpu.idle");
  control(Feature::kCfsBurst, "cpu.cfs_burst_us");
  control(Feature::kGroupIdentity, "cpu.bvt_warp_ns");
  const auto stat = readWord(root_, pods(Controller::kCpu, control::kCpuStat.name));
  const bool waits = stat && parseRunQueueWait(*stat);
  set(Feature::kRunQueueDelay, waits,
      waits ? "wait_sum in cpu.stat" : "no wait_sum in cpu.stat (schedstats off or not built)");
}

void CapabilityProbe::memoryFiles() {
  if (trees_.isV2())
    control(Feature::kMemoryReclaim, "memory.reclaim");
  else
    set(Feature::kMemoryReclaim, false, "only in cgroup v2");
  control(Feature::kMemoryMin, "memory.min");
  control(Feature::kMemoryHigh, "memory.high");
  control(Feature::kMemoryWatermark, "memory.wmark_ratio");
  control(Feature::kMemoryPriority, "memory.priority");
  control(Feature::kOomGroup, "memory.oom.group");
  control(Feature::kPageCacheLimit, "memory.pagecache_limit.enable");
  file(Feature::kColdPages, mounts_.sysFile("kernel/mm/kidled/scan_period_in_seconds"));
  out_.anolis_ = exists(joinPath({trees_.path(Controller::kCpu, ""), "cpu.bvt_warp_ns"})) ||
                 out_.has(Feature::kMemoryWatermark);
}

void CapabilityProbe::pressure(const LiveFacts& live) {
  file(Feature::kNodePressure, mounts_.procFile("pressure/cpu"));
  file(Feature::kCgroupPressure, joinPath({trees_.pressurePath(cgroup_), "cpu.pressure"}));
  // The pods' cgroup may be missing from the v2 tree until the first pod; its root is enough.
  if (!out_.has(Feature::kCgroupPressure))
    file(Feature::kCgroupPressure, joinPath({trees_.pressurePath(""), "cpu.pressure"}));
  set(Feature::kShortPressureWindow, live.shortPressure, live.pressureDetail);
  const std::string unified = somePressureDir();
  const auto core = [&](Feature feature, std::string_view name) {
    const auto inChild = [&](const std::string& child) {
      return joinPath({trees_.pressurePath(child), name});
    };
    inSomeChild(feature, name, joinPath({unified, name}), inChild, true);
  };
  core(Feature::kCgroupKill, "cgroup.kill");
  core(Feature::kCgroupFreeze, "cgroup.freeze");
}

void CapabilityProbe::ioAndNet() {
  control(Feature::kBlkioThrottle, "blkio.throttle.read_bps_device");
  if (trees_.isV2())
    file(Feature::kIoCost, joinPath({trees_.path(Controller::kBlkio, ""), "io.cost.qos"}));
  else
    file(Feature::kIoCost, joinPath({trees_.path(Controller::kBlkio, ""), "blkio.cost.qos"}));
  control(Feature::kIoLatency, "io.latency");
  control(Feature::kNetClass, "net_cls.classid");
}

// x86 says so by a flag. ARM's MPAM has none: there resctrl's own directory tells.
void CapabilityProbe::allocation(Feature feature, const CpuInfoText& cpu, std::string_view flag,
                                 std::string_view dir) {
  const std::string path = joinPath({mounts_.resctrl, dir});
  if (isArm(cpu.vendor) && exists(path)) return set(feature, true, path);
  set(feature, cpu.hasFlag(flag),
      fmt::format("cpuinfo {} the flag {}", cpu.hasFlag(flag) ? "has" : "lacks", flag));
}

void CapabilityProbe::hardware() {
  file(Feature::kResctrl, joinPath({mounts_.resctrl, "schemata"}));
  file(Feature::kResctrlMonitor, joinPath({mounts_.resctrl, "mon_data"}));
  const auto text = readText(root_, mounts_.procFile("cpuinfo"));
  const CpuInfoText cpu = text && *text ? parseCpuInfo(**text) : CpuInfoText{};
  allocation(Feature::kCacheAllocation, cpu, "cat_l3", "info/L3");
  allocation(Feature::kBandwidthAllocation, cpu, "mba", "info/MB");
  const auto topology = readCpuTopology(root_, mounts_);
  const size_t cpus = topology ? topology->cpus.size() : 0;
  const size_t cores = topology ? topology->coreCount() : 0;
  set(Feature::kSmt, cpus > cores, fmt::format("{} CPUs on {} cores", cpus, cores));
  const auto nodes = numaIds(root_, mounts_);
  const size_t count = nodes ? nodes->size() : 0;
  set(Feature::kNuma, count > 1, fmt::format("{} node{}", count, count == 1 ? "" : "s"));
  const auto memory = readText(root_, mounts_.procFile("meminfo"));
  const auto info = memory && *memory ? parseMemInfo(**memory) : Result<MemInfo>(MemInfo{});
  const Bytes swap = info ? info->swapTotal : Bytes{};
  set(Feature::kSwap, swap.v > 0, fmt::format("{} MiB", swap.v / kMiB.v));
}

Capabilities probeCapabilities(const SysRoot& root, const Mounts& mounts, const Hierarchies& trees,
                               const CgroupLayout& layout, const LiveFacts& live) {
  return CapabilityProbe(root, mounts, trees, layout).run(live);
}

}  // namespace mangrove::kernel
