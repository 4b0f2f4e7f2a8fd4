// Topology, layout, hierarchies and capabilities over fake machines.
#include <gtest/gtest.h>

#include "kernel/block_devices.h"
#include "kernel/capabilities.h"
#include "kernel/control_files.h"
#include "kernel/cpu_topology.h"
#include "kernel/cpu_units.h"
#include "kernel/dir_watch.h"
#include "kernel/numa.h"
#include "kernel/perf_group.h"
#include "kernel/psi_trigger.h"
#include "kernel/resctrl_mon.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::kernel {
namespace {

using namespace std::chrono_literals;

FakeEntry cpu(int id, int core, int package, const std::string& siblings) {
  return dir(fmt::format("cpu{}", id), file("topology/core_id", fmt::format("{}\n", core)),
             file("topology/physical_package_id", fmt::format("{}\n", package)),
             file("cache/index0/level", "2\n"), file("cache/index0/shared_cpu_list", siblings),
             file("cache/index1/level", "3\n"),
             file("cache/index1/id", fmt::format("{}\n", package)));
}

// Two sockets, two cores each, two threads; sysfs numbers cores per socket; CPU 7 is offline.
FakeRoot twoSockets() {
  return FakeRoot{
      dir("sys/devices/system/cpu", file("online", "0-6\n"), file("possible", "0-7\n"),
          cpu(0, 0, 0, "0,4\n"), cpu(1, 1, 0, "1,5\n"), cpu(2, 0, 1, "2,6\n"), cpu(3, 1, 1, "3\n"),
          cpu(4, 0, 0, "0,4\n"), cpu(5, 1, 0, "1,5\n"), cpu(6, 0, 1, "2,6\n"), dir("cpu7")),
      dir("sys/devices/system/node", file("node0/cpulist", "0-1,4-5\n"),
          file("node1/cpulist", "2-3,6-7\n"), file("has_generic_initiator", "\n")),
      dir("sys/bus/node/devices", dir("node0"), dir("node1"))};
}

TEST(CpuTopology, CountsCoresThroughTheMachine) {
  const FakeRoot fs = twoSockets();
  auto topology = readCpuTopology(fs.root(), {});
  ASSERT_TRUE(topology) << topology.error().text();
  EXPECT_EQ(topology->cpus.size(), 7u);
  EXPECT_EQ(topology->possible, 8);
  EXPECT_EQ(topology->coreCount(), 4u);
  EXPECT_EQ(topology->socketCount(), 2u);
  EXPECT_EQ(topology->find(2)->core, 2);
  EXPECT_EQ(topology->find(6)->core, 2);
  EXPECT_EQ(topology->find(6)->node, 1);
  EXPECT_EQ(topology->find(6)->l3, 1);
  EXPECT_EQ(topology->find(6)->l2, 2);
  EXPECT_EQ(topology->find(7), nullptr);
  EXPECT_EQ(topology->siblingsOf(1).text(), "1,5");
  EXPECT_EQ(topology->cpusOfNode(1).text(), "2-3,6");
  EXPECT_EQ(topology->numaNodes(), (std::vector<int>{0, 1}));
  EXPECT_TRUE(readCpuBasics(fs.root(), {}, *topology).smt);
}

TEST(CpuTopology, CpusWithoutCoreAreDropped) {
  FakeRoot fs{file("sys/devices/system/cpu/online", "0-1\n"),
              dir("sys/devices/system/cpu", cpu(1, 0, -1, "1\n"))};
  auto topology = readCpuTopology(fs.root(), {});
  ASSERT_TRUE(topology);
  EXPECT_EQ(topology->cpus.size(), 1u);
  EXPECT_EQ(topology->cpus[0].socket, 0);
  fs.remove("sys/devices/system/cpu/cpu1");
  EXPECT_FALSE(readCpuTopology(fs.root(), {}));
}

TEST(Numa, IdsLeaveOutInitiatorsAndMustBeContiguous) {
  const std::vector<std::string> two{"node0", "node1", "power", "nodex"};
  EXPECT_EQ(*numaIdsOf(two, ""), (std::vector<int>{0, 1}));
  EXPECT_EQ(*numaIdsOf(two, "1\n"), (std::vector<int>{0}));
  EXPECT_FALSE(numaIdsOf(two, "0"));
  EXPECT_FALSE(numaIdsOf(two, "1-2-3"));
  EXPECT_FALSE(numaIdsOf({"node3", "node4"}, "0-2,5"));
}

TEST(CpuUnits, Conversions) {
  EXPECT_EQ(*sharesOfWeight(1), 2);
  EXPECT_EQ(*sharesOfWeight(10000), 262144);
  EXPECT_EQ(*sharesOfWeight(100), 2597);
  EXPECT_EQ(*weightOfShares(1024), 39);
}

TEST(CgroupLayout, PathsAndNames) {
  const CgroupLayout systemd(CgroupDriver::kSystemd), plain(CgroupDriver::kCgroupfs);
  const std::string uid = "7712555c-ce62-454a-9e18-9ff0217b8941";
  EXPECT_EQ(*systemd.containerDir(systemd.podDir(PodTier::kBurstable, uid), "containerd://abc"),
            "kubepods.slice/kubepods-burstable.slice/"
            "kubepods-burstable-pod7712555c_ce62_454a_9e18_9ff0217b8941.slice/"
            "cri-containerd-abc.scope");
  EXPECT_EQ(*plain.containerDir(plain.podDir(PodTier::kGuaranteed, uid), "docker://abc"),
            "kubepods/pod" + uid + "/abc");
  EXPECT_EQ(*systemd.podOf("kubepods-besteffort-pod12345.slice"), "12345");
  EXPECT_FALSE(systemd.podOf("pod12345"));
  EXPECT_EQ(*plain.containerOf("docker-1.scope"), "docker-1.scope");
  EXPECT_FALSE(systemd.containerOf("12345"));
  EXPECT_FALSE(systemd.containerDir("p", "rkt://x"));
  EXPECT_FALSE(systemd.containerOf("pouch-p.scope"));
  EXPECT_EQ(*systemd.anyContainerOf("pouch-p.scope"), "p");
  EXPECT_TRUE(samePod("7712555c_ce62", "7712555c-ce62"));
  EXPECT_FALSE(samePod("7712555c_ce62", "7712555c-ce63"));
  EXPECT_EQ(joinPath({"a/", "/b//c", "../d"}), "a/b/d");
}

TEST(CgroupLayout, TheSandboxIsTheOneNobodyKnows) {
  const CgroupLayout systemd(CgroupDriver::kSystemd), plain(CgroupDriver::kCgroupfs);
  const std::vector<std::string> known{"abc"};
  const auto find = [&](const CgroupLayout& layout, std::vector<std::string> names) {
    return sandboxOf(layout, names, known);
  };
  EXPECT_EQ(*find(plain, {"abc", "hash"}), "containerd://hash");
  EXPECT_EQ(*find(systemd, {"cri-containerd-abc.scope", "cri-containerd-hash.scope"}),
            "containerd://hash");
  EXPECT_FALSE(find(plain, {"abc", "one", "two"}));
  EXPECT_FALSE(find(plain, {"abc"}));
  EXPECT_FALSE(find(systemd, {"crio-abc.scope", "crio-x.scope"})) << "no sandbox has .scope";
  EXPECT_EQ(*find(systemd, {"crio-abc.scope", "crio-x"}), "cri-o://x");
  EXPECT_EQ(*sandboxOf(plain, std::vector<std::string>{"one"}, {}), "");
}

TEST(Hierarchies, FindsVersionAndDriver) {
  FakeRoot v2{file("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory\n"),
              dir("sys/fs/cgroup/kubepods.slice")};
  auto trees = Hierarchies::detect(v2.root(), {});
  ASSERT_TRUE(trees);
  EXPECT_TRUE(trees->isV2());
  EXPECT_TRUE(trees->has(Controller::kBlkio));
  EXPECT_FALSE(trees->has(Controller::kNetCls));
  EXPECT_EQ(findDriver(v2.root(), *trees), CgroupDriver::kSystemd);
  EXPECT_EQ(trees->path(Controller::kMemory, "a"), "sys/fs/cgroup/a");

  FakeRoot v1{dir("sys/fs/cgroup/cpu/kubepods"), dir("sys/fs/cgroup/memory"),
              file("sys/fs/cgroup/unified/cgroup.controllers", "")};
  trees = Hierarchies::detect(v1.root(), {});
  ASSERT_TRUE(trees);
  EXPECT_TRUE(trees->isHybrid());
  EXPECT_EQ(findDriver(v1.root(), *trees), CgroupDriver::kCgroupfs);
  EXPECT_EQ(trees->path(Controller::kMemory, "a"), "sys/fs/cgroup/memory/a");
  EXPECT_EQ(trees->pressurePath("a"), "sys/fs/cgroup/unified/a");
  EXPECT_FALSE(Hierarchies::detect(FakeRoot{}.root(), {}));
}

TEST(Hierarchies, DriverOfKubelet) {
  const std::string line = std::string("/usr/bin/kubelet\0--config=/etc/k.yaml\0-v\0002\0", 43);
  EXPECT_EQ(kubeletConfigPath(line), "/etc/k.yaml");
  EXPECT_EQ(*driverOfKubelet(line, "kind: X\ncgroupDriver: \"systemd\"\n"), CgroupDriver::kSystemd);
  EXPECT_EQ(*driverOfKubelet(line, "kind: X\n"), CgroupDriver::kCgroupfs);
  EXPECT_EQ(*driverOfKubelet(std::string("k\0--cgroup-driver\0systemd", 25), ""),
            CgroupDriver::kSystemd);
  EXPECT_FALSE(driverOfKubelet(line, "cgroupDriver: podman\n"));
}

TEST(ControlFiles, EachResourceHasAFileSomewhere) {
  for (const ControlResource& resource : controlResources()) {
    EXPECT_TRUE(resource.in(CgroupVersion::kV1) || resource.in(CgroupVersion::kV2));
    EXPECT_EQ(findResource(resource.name), &resource) << resource.name;
  }
}

TEST(Capabilities, SaysWhatIsThereAndWhyNot) {
  FakeRoot fs{file("sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory\n"),
              dir("sys/fs/cgroup/kubepods.slice", file("cpu.idle", "0\n"),
                  file("memory.high", "max\n"), file("cpu.pressure", "")),
              file("proc/cpuinfo", "vendor_id : GenuineIntel\nflags : mba\n"),
              file("proc/sys/kernel/osrelease", "6.1.0-13-amd64\n")};
  const auto trees = Hierarchies::detect(fs.root(), {});
  const auto can =
      probeCapabilities(fs.root(), {}, *trees, CgroupLayout(CgroupDriver::kSystemd), {});
  EXPECT_TRUE(can.has(Feature::kCgroupV2));
  EXPECT_TRUE(can.has(Feature::kCpuIdle));
  EXPECT_TRUE(can.has(Feature::kMemoryHigh));
  EXPECT_TRUE(can.has(Feature::kCgroupPressure));
  EXPECT_TRUE(can.has(Feature::kBandwidthAllocation));
  EXPECT_FALSE(can.has(Feature::kCacheAllocation));
  EXPECT_FALSE(can.has(Feature::kGroupIdentity));
  EXPECT_FALSE(can.isAnolis());
  EXPECT_EQ(can.kernelRelease(), "6.1.0-13-amd64");
  EXPECT_EQ(can.finding(Feature::kCfsBurst).detail,
            "no sys/fs/cgroup/kubepods.slice/cpu.max.burst");
  EXPECT_EQ(can.finding(Feature::kNetClass).name, "net-class");
}

// The root of a v2 tree has no cgroup.freeze; before there are pods any other cgroup tells.
TEST(Capabilities, OfTheTreeBesideV1BeforeThereArePods) {
  FakeRoot fs{dir("sys/fs/cgroup/cpu", file("cpu.shares", "1024\n")),
              file("sys/fs/cgroup/unified/cgroup.controllers", ""),
              file("sys/fs/cgroup/unified/cpu.pressure", ""),
              dir("sys/fs/cgroup/unified/system.slice", file("cgroup.freeze", "0\n"),
                  file("cgroup.kill", ""))};
  const auto trees = Hierarchies::detect(fs.root(), {});
  const auto can =
      probeCapabilities(fs.root(), {}, *trees, CgroupLayout(CgroupDriver::kSystemd), {});
  EXPECT_TRUE(can.has(Feature::kCgroupFreeze)) << can.finding(Feature::kCgroupFreeze).detail;
  EXPECT_TRUE(can.has(Feature::kCgroupKill));
  EXPECT_TRUE(can.has(Feature::kCgroupPressure));
}

// A v2 machine without a single cgroup below the root, as in a fresh guest: what a child would have
// is what the kernel's release says; what depends on how it was built is not known.
TEST(Capabilities, OfAV2TreeWithoutChildren) {
  struct Row {
    const char* release;
    const char* controllers;
    Feature feature;
    bool want;
  };
  for (const Row& row :
       {Row{"6.1.0-13-amd64", "cpuset cpu io memory", Feature::kCpuIdle, true},
        Row{"6.1.0-13-amd64", "cpuset cpu io memory", Feature::kMemoryHigh, true},
        Row{"6.1.0-13-amd64", "cpuset cpu io memory", Feature::kMemoryReclaim, true},
        Row{"6.1.0-13-amd64", "cpuset cpu io memory", Feature::kCgroupKill, true},
        Row{"6.1.0-13-amd64", "cpuset cpu", Feature::kMemoryHigh, false},
        Row{"6.1.0-13-amd64", "cpuset cpu", Feature::kGroupIdentity, false},
        Row{"6.1.0-13-amd64", "cpuset cpu io", Feature::kIoLatency, false},
        Row{"5.14.0", "cpuset cpu", Feature::kCpuIdle, false},
        Row{"5.14.0", "cpuset cpu", Feature::kCfsBurst, true},
        Row{"5.15-rc1", "cpuset cpu", Feature::kCpuIdle, true},
        Row{"odd", "cpuset cpu", Feature::kCpuIdle, false}}) {
    FakeRoot fs{file("sys/fs/cgroup/cgroup.controllers", std::string(row.controllers) + "\n"),
                file("proc/sys/kernel/osrelease", std::string(row.release) + "\n")};
    const auto trees = Hierarchies::detect(fs.root(), {});
    const auto can =
        probeCapabilities(fs.root(), {}, *trees, CgroupLayout(CgroupDriver::kSystemd), {});
    EXPECT_EQ(can.has(row.feature), row.want)
        << row.release << ": " << can.finding(row.feature).name << ": "
        << can.finding(row.feature).detail;
  }
}

// Before there are pods whichever cgroup has the controller tells, not the first one.
TEST(Capabilities, OfAV2TreeWhoseFirstChildHasNoController) {
  FakeRoot fs{file("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory\n"),
              file("proc/sys/kernel/osrelease", "5.10.0\n"),
              dir("sys/fs/cgroup/dev-hugepages.mount", file("cgroup.procs", "")),
              dir("sys/fs/cgroup/system.slice", file("cpu.idle", "0\n"), file("io.latency", ""))};
  const auto trees = Hierarchies::detect(fs.root(), {});
  const auto can =
      probeCapabilities(fs.root(), {}, *trees, CgroupLayout(CgroupDriver::kSystemd), {});
  EXPECT_TRUE(can.has(Feature::kCpuIdle));
  EXPECT_EQ(can.finding(Feature::kCpuIdle).detail, "sys/fs/cgroup/system.slice/cpu.idle");
  EXPECT_TRUE(can.has(Feature::kIoLatency));
  EXPECT_FALSE(can.has(Feature::kCfsBurst));
  EXPECT_EQ(can.finding(Feature::kCfsBurst).detail,
            "no sys/fs/cgroup/dev-hugepages.mount/cpu.max.burst");
}

// ARM has no flag for it.
TEST(Capabilities, CacheAllocationByMpam) {
  FakeRoot fs{dir("sys/fs/cgroup/cpu", file("cpu.shares", "1024\n")),
              file("proc/cpuinfo", "CPU implementer : 0x48\nFeatures : fp asimd\n"),
              file("sys/fs/resctrl/info/L3/cbm_mask", "ff\n")};
  const auto trees = Hierarchies::detect(fs.root(), {});
  const auto can =
      probeCapabilities(fs.root(), {}, *trees, CgroupLayout(CgroupDriver::kSystemd), {});
  EXPECT_TRUE(can.has(Feature::kCacheAllocation));
  EXPECT_FALSE(can.has(Feature::kBandwidthAllocation));
}

TEST(Capabilities, LiveProbeNeverFails) {
  const LiveFacts live = probeLive();
  EXPECT_FALSE(live.perfDetail.empty());
  EXPECT_FALSE(live.coreDetail.empty());
  EXPECT_FALSE(live.pressureDetail.empty());
}

TEST(Resctrl, ReadsWithTheLineEndRealKernelsWrite) {
  FakeRoot fs{dir("sys/fs/resctrl/BE/mon_data",
                  dir("mon_L3_00", file("llc_occupancy", "1024\n"), file("mbm_local_bytes", "7\n"),
                      file("mbm_total_bytes", "Unavailable\n")),
                  dir("mon_L3_01", file("llc_occupancy", "2048\n")), dir("other"))};
  auto monitor = ResctrlMonitor::open(fs.root(), {}, "BE");
  ASSERT_TRUE(monitor && *monitor);
  std::vector<CacheSample> got;
  (*monitor)->read([&](const CacheSample& s) { got.push_back(s); });
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].llcBytes, 1024u);
  EXPECT_EQ(got[0].localBytes, 7u);
  EXPECT_EQ(got[0].totalBytes, std::nullopt);
  EXPECT_EQ(got[1].cacheId, 1);
  EXPECT_FALSE(*ResctrlMonitor::open(fs.root(), {}, "LS"));
}

TEST(Perf, CountsAreScaledToTheWholeTime) {
  const PerfCounts c = scaled({2, 1000, 250, {10, 20}});
  EXPECT_EQ(c.cycles, 40);
  EXPECT_EQ(c.instructions, 80);
  EXPECT_EQ(scaled({2, 1000, 0, {10, 20}}).cycles, 0);
}

TEST(Psi, WindowsAreWidenedToTwoSeconds) {
  const PsiThreshold wide = widened({150ms, 1s});
  EXPECT_EQ(wide.window, 2s);
  EXPECT_EQ(wide.stall, 300ms);
  EXPECT_EQ(widened({1s, 3s}).window, 4s);
}

TEST(DirWatch, ReportsNewAndRemovedEntries) {
  FakeRoot fs{dir("a"), dir("b")};
  auto a = fs.root().dir("a");
  auto b = fs.root().dir("b");
  DirWatch watch;
  if (!watch.ok()) GTEST_SKIP() << "no inotify here";
  const int idA = watch.add(a->fd()).value();
  const int idB = watch.add(b->fd()).value();
  std::vector<int> seen;
  const auto keep = [&](int id) { seen.push_back(id); };
  EXPECT_TRUE(watch.changed(keep));
  EXPECT_TRUE(seen.empty());
  fs.add(dir("b/pod1"));
  EXPECT_TRUE(watch.changed(keep));
  EXPECT_EQ(seen, std::vector<int>{idB});
  seen.clear();
  fs.add(dir("a/x"));
  fs.remove("b/pod1");
  EXPECT_TRUE(watch.changed(keep));
  EXPECT_EQ(seen, (std::vector<int>{idA, idB}));
}

TEST(BlockDevices, PartitionsVolumesAndMounts) {
  FakeRoot fs{
      dir("sys/block",
          dir("nvme0n1", file("dev", "259:0\n"),
              dir("nvme0n1p1", file("dev", "259:1\n"), file("partition", "1\n")), dir("queue")),
          dir("vdc", file("dev", "253:32\n"),
              dir("vdc3", file("dev", "253:35\n"), file("partition", "3\n"))),
          dir("dm-0", file("dev", "252:0\n"), file("dm/name", "yoda--pool0-yoda--1\n"),
              file("slaves/vdc3", "")),
          dir("dm-1", file("dev", "252:1\n"), file("dm/name", "wide-lv\n"), file("slaves/vdc", ""),
              file("slaves/nvme0n1", ""))),
      file("proc/1/mountinfo",
           "29 1 252:0 / /data rw - ext4 /dev/x rw\n30 1 0:5 / /proc rw - p p rw\n")};
  auto blocks = readBlockDevices(fs.root(), {});
  ASSERT_TRUE(blocks);
  EXPECT_EQ(blocks->diskOf.at("253:35"), "253:32");
  EXPECT_EQ(blocks->diskOf.at("259:1"), "259:0");
  EXPECT_EQ(blocks->diskOf.at("252:0"), "253:32");
  EXPECT_FALSE(blocks->diskOf.contains("252:1")) << "over two disks";
  EXPECT_EQ(blocks->groups.at("yoda-pool0"), "253:32");
  EXPECT_EQ(blocks->numbers.at(mapperName("yoda-pool0", "yoda-1")), "252:0");
  EXPECT_EQ(blocks->mounts, (std::map<std::string, std::string>{{"/data", "252:0"}}));
}

}  // namespace
}  // namespace mangrove::kernel
