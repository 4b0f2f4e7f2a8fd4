// The strategies for disks, kernel parameters, cores, OOM scores and page cache over
// captured machines: what the files hold afterwards, and that everything comes back.
#include <gtest/gtest.h>

#include "agent/qos/blkio/lines.h"
#include "agent/qos/blkio/strategy.h"
#include "agent/qos/core_sched/strategy.h"
#include "agent/qos/testing/machine_bench.h"

namespace mangrove::agent {
namespace {

using testing::MachineBench;

std::string machineDir(const char* name) {
  return std::string(MANGROVE_SOURCE_DIR) + "/test/machines/" + name;
}

// A runtime says that a pod begins: its cgroup is set up before the next tick, and nothing that
// counts in ticks moves.
TEST(MachineStrategies, HooksOfANewPodDoNotWaitForTheTick) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressPolicy":"cfsQuota"})");
  bench.start();
  bench.seconds(2);
  const std::string quota = bench.read("BE", "cpu.cfs_quota_us");
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  const std::string cgroup = bench.cgroupOf("job");
  PodLook one;
  bench.scene->agent().book().each([&](const PodPtr& pod) {
    if (pod->meta.name.view() == "job") one.pod = pod;
  });
  ASSERT_TRUE(one.pod);
  one.cgroup = cgroup;
  one.tier = kernel::PodTier::kBestEffort;
  one.qos = api::Qos::kBe;
  Look now = bench.scene->agent().look();
  const std::vector<PodLook> pods{one};
  now.pods = pods;
  bench.enforcer->podBegan(now, bench.scene->agent().node().get(), nullptr);
  EXPECT_EQ(bench.read("job", "cpu.idle"), "1");
  EXPECT_EQ(bench.read("BE", "cpu.cfs_quota_us"), quota);
}

// Batch resources are asked for with equal limits. YARN's containers run inside the pod that asks for
// the NodeManager alone, so its limits would end them.
TEST(MachineStrategies, ANodeManagerGrowsToWhatYarnHas) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  ASSERT_TRUE(bench.gate("YarnNodeManager=true"));
  const std::string own = R"({"kubernetes.io/batch-cpu":"500","kubernetes.io/batch-memory":"1Gi"})";
  testing::SimPod manager{.name = "nm",
                          .tier = "besteffort",
                          .qos = "BE",
                          .resources = R"({"requests":)" + own + R"(,"limits":)" + own + "}",
                          .labels = R"(,"app.kubernetes.io/component":"node-manager")"};
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":false})");
  bench.pod(manager);
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("nm", "memory.limit_in_bytes"), std::to_string(kGiB.v))
      << "YARN has nothing yet";
  manager.annotations =
      R"({"colocation.mangrove.io/yarn-capacity":"{\"vcores\":2,\"memoryMb\":3072}"})";
  bench.pod(manager);
  bench.seconds(2);
  EXPECT_EQ(bench.read("nm", "memory.limit_in_bytes"), std::to_string(kGiB.v * 4));
  EXPECT_EQ(bench.read("nm", "cpu.cfs_quota_us"), "250000");
  EXPECT_EQ(bench.read("nm/c", "memory.limit_in_bytes"), "max") << "the pod's bound is theirs";
}

TEST(MachineStrategies, SystemParameters) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  ASSERT_TRUE(bench.gate("SystemConfig=true"));
  bench.fs.write("proc/sys/vm/min_free_kbytes", "67584\n");
  bench.fs.write("proc/sys/vm/watermark_scale_factor", "10\n");
  bench.fs.write("sys/kernel/debug/sched/features", "GENTLE_FAIR_SLEEPERS NO_HRTICK WAKEUP\n");
  bench.slo(R"("systemStrategy":{"minFreeKbytesFactor":100,"watermarkScaleFactor":150,)"
            R"("memcgReapBackGround":1,"schedFeatures":{"HRTICK":true,"NOT_KNOWN":true}})");
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("proc/sys/vm", "watermark_scale_factor"), "150");
  EXPECT_EQ(bench.read("sys/kernel/debug/sched", "features"), "HRTICK") << "one word is written";
  // 1 % of the machine's memory.
  const int64_t minFree = std::stoll(bench.read("proc/sys/vm", "min_free_kbytes"));
  EXPECT_GT(minFree, 67584);
  bench.slo(R"("systemStrategy":{"watermarkScaleFactor":401})");
  bench.seconds(1);
  EXPECT_EQ(bench.read("proc/sys/vm", "watermark_scale_factor"), "10") << "given back";
  EXPECT_EQ(bench.read("proc/sys/vm", "min_free_kbytes"), "67584");
}

TEST(MachineStrategies, BlockDevicesOfSettings) {
  kernel::BlockDevices disks;
  disks.numbers = {{"/dev/sda", "8:0"}, {"/dev/sda1", "8:1"}, {"/dev/sdb", "8:16"}};
  disks.diskOf = {{"8:1", "8:0"}};
  disks.groups = {{"data", "/dev/sdb"}};
  disks.mounts = {{"/var/lib/kubelet/pods/u1/volumes/kubernetes.io~csi/pvc-7/mount", "8:1"}};
  const auto of = [&](const char* type, const char* name, const char* uid = "") {
    auto found = diskOf({name, type, {}}, disks, uid);
    return found ? *found : found.error().text();
  };
  EXPECT_EQ(of("device", "/dev/sda"), "8:0");
  EXPECT_EQ(of("device", "/dev/sda1"), "8:0") << "a partition's disk";
  EXPECT_EQ(of("volumegroup", "data"), "8:16");
  EXPECT_EQ(of("podvolume", "pvc-7", "u1"), "8:0");
  EXPECT_EQ(of("podvolume", "logs", "u1"), "8:0") << "the only one";
  EXPECT_NE(of("podvolume", "logs", "u2").find("0 CSI mounts"), std::string::npos);
  EXPECT_NE(of("device", "/dev/xx").find("no block device"), std::string::npos);
  EXPECT_NE(of("podvolume", "x").find("want device"), std::string::npos);
}

const char* const kDiskLimits =
    R"("resourceQOSStrategy":{"beClass":{"blkioQOS":{"enable":true,"blocks":[{"name":"/dev/sda",)"
    R"("type":"device","ioCfg":{"readBPS":1048576,"writeIOPS":100,"ioWeightPercent":40}}]}},)"
    R"("cgroupRoot":{"blkioQOS":{"enable":true,"blocks":[{"name":"/dev/sda","type":"device",)"
    R"("ioCfg":{"readLatency":1000}}]}}})";

TEST(MachineStrategies, BlockIoUnderV2) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  ASSERT_TRUE(bench.gate("BlkIOReconcile=true"));
  bench.fs.write("sys/block/sda/dev", "8:0\n");
  bench.fs.write("sys/fs/cgroup/io.cost.qos", "");
  bench.slo(kDiskLimits);
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("BE", "io.max"), "8:0 rbps=1048576 wbps=max riops=max wiops=100");
  EXPECT_EQ(bench.read("BE", "io.weight"), "8:0 40");
  EXPECT_EQ(bench.read("", "sys/fs/cgroup/io.cost.qos"),
            "8:0 enable=1 ctrl=user rpct=95 rlat=1000 wpct=95 wlat=3000");
  bench.leave();
  EXPECT_EQ(bench.read("BE", "io.max"), "8:0 rbps=max wbps=max riops=max wiops=max");
}

// The shorter latency of the two counts; a configured one may be alone.
TEST(MachineStrategies, LatencyTargets) {
  struct Row {
    std::optional<int64_t> read, write;
    const char* want;
  };
  for (const Row& row : {Row{1000, {}, "8:0 target=1000"}, Row{{}, 2000, "8:0 target=2000"},
                         Row{9000, 8000, "8:0 target=8000"}, Row{{}, {}, "8:0 target=3000"}}) {
    api::IoConfig io;
    io.readLatency = row.read;
    io.writeLatency = row.write;
    EXPECT_EQ(latencyLine(io, "8:0"), row.want);
  }
}

// A kernel whose only weights are those of the bfq scheduler.
TEST(MachineStrategies, DiskWeightsOfBfqUnderV2) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  ASSERT_TRUE(bench.gate("BlkIOReconcile=true"));
  bench.fs.write("sys/block/sda/dev", "8:0\n");
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true})");
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  const std::string group = "sys/fs/cgroup/" + bench.cgroupOf("BE");
  bench.fs.remove(group + "/io.weight");
  bench.write("BE", "io.bfq.weight", "default 100");
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("BE", "io.bfq.weight"), "default 10");
  bench.slo(std::string(R"("resourceUsedThresholdWithBE":{"enable":true},)") + kDiskLimits);
  bench.seconds(1);
  EXPECT_EQ(bench.read("BE", "io.bfq.weight"), "8:0 40")
      << "a write replaces the text of this file";
}

// A kernel without a cost model: the neighbours of best-effort work are promised the latency.
TEST(MachineStrategies, BlockIoLatencyWhereThereIsNoCostModel) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  ASSERT_TRUE(bench.gate("BlkIOReconcile=true"));
  bench.fs.write("sys/block/sda/dev", "8:0\n");
  bench.slo(kDiskLimits);
  bench.pod({.name = "db", .tier = "guaranteed", .qos = "LSR"});
  bench.pod({.name = "web", .qos = "LS"});
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  for (const char* where : {"LS", "BE", "db", "web", "job"}) bench.write(where, "io.latency", "");
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("LS", "io.latency"), "8:0 target=1000");
  EXPECT_EQ(bench.read("db", "io.latency"), "8:0 target=1000");
  EXPECT_EQ(bench.read("web", "io.latency"), "") << "its group has it";
  EXPECT_EQ(bench.read("BE", "io.latency"), "") << "who has no promise waits first";
  EXPECT_EQ(bench.read("BE", "io.weight"), "8:0 40");
  bench.leave();
  EXPECT_EQ(bench.read("LS", "io.latency"), "8:0 target=max");
}

TEST(MachineStrategies, BlockIoUnderV1) {
  MachineBench bench(machineDir("anolis-v1-resctrl"));
  ASSERT_TRUE(bench.gate("BlkIOReconcile=true"));
  bench.fs.write("sys/block/sda/dev", "8:0\n");
  for (const char* file : {"read_bps", "write_bps", "read_iops", "write_iops"})
    bench.write("BE", std::string("blkio.throttle.") + file + "_device", "");
  bench.slo(kDiskLimits);
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("BE", "blkio.throttle.read_bps_device"), "8:0 1048576");
  EXPECT_EQ(bench.read("BE", "blkio.throttle.write_iops_device"), "8:0 100");
  EXPECT_EQ(bench.read("BE", "blkio.throttle.write_bps_device"), "") << "zero where nothing is";
  bench.slo(R"("resourceQOSStrategy":{})");
  bench.seconds(1);
  EXPECT_EQ(bench.read("BE", "blkio.throttle.read_bps_device"), "8:0 0");
}

TEST(MachineStrategies, PageCacheLimit) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  ASSERT_TRUE(bench.gate("CgroupReconcile=true"));
  for (const char* file : {"enable", "size", "sync"})
    for (const char* where : {"LS", "BE", "kubepods.slice"})
      bench.write(where, std::string("memory.pagecache_limit.") + file, "0");
  bench.slo(R"("resourceQOSStrategy":{"lsClass":{"memoryQOS":{"enable":true,)"
            R"("pageCacheLimitPercent":50}}})");
  bench.pod({.name = "web", .qos = "LS", .resources = R"({"limits":{"memory":"4Gi"}})"});
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("web", "memory.pagecache_limit.size"), "2147483648") << "case 91";
  EXPECT_EQ(bench.read("web", "memory.pagecache_limit.enable"), "1");
  EXPECT_EQ(bench.read("web", "memory.pagecache_limit.sync"), "0");
  bench.leave();
  EXPECT_EQ(bench.read("web", "memory.pagecache_limit.size"), "0");
}

TEST(MachineStrategies, OomScoresAreRaisedOnly) {
  MachineBench bench(machineDir("v1-2core-vm"));
  ASSERT_TRUE(bench.gate("OOMScoreAdj=true"));
  for (const char* pid : {"41", "42", "51"})
    bench.fs.write(std::string("proc/") + pid + "/oom_score_adj", "500\n");
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true})");
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.pod(
      {.name = "low", .qos = "LS", .annotations = R"({"koordinator.sh/oom-score-adj":"-500"})"});
  bench.pod(
      {.name = "wrong", .qos = "LS", .annotations = R"({"koordinator.sh/oom-score-adj":"1001"})"});
  bench.threads("job", "41,42");
  bench.threads("low", "51");
  bench.fs.write("proc/61/oom_score_adj", "0\n");
  bench.threads("wrong", "61");
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("proc/41", "oom_score_adj"), "1000");
  EXPECT_EQ(bench.read("proc/42", "oom_score_adj"), "1000");
  EXPECT_EQ(bench.read("proc/51", "oom_score_adj"), "500") << "no CAP_SYS_RESOURCE";
  EXPECT_EQ(bench.read("proc/61", "oom_score_adj"), "0") << "case 116: out of range";
  bench.fs.write("proc/self/status", "CapEff:\t000001ffffffffff\n");
  bench.seconds(11);
  EXPECT_EQ(bench.read("proc/51", "oom_score_adj"), "-500");
  EXPECT_EQ(bench.read("proc/41", "oom_score_adj"), "1000") << "held";
  bench.leave();
  EXPECT_EQ(bench.read("proc/41", "oom_score_adj"), "500");
}

TEST(MachineStrategies, CookieSteps) {
  using Kind = CookieStep::Kind;
  const std::vector<CookieWish> wishes = {{1, "a"}, {2, "a"}, {3, "b"}, {4, "b"}, {5, ""}};
  EXPECT_EQ(cookieSteps(wishes, {{1, 0}, {2, 0}, {3, 7}, {4, 9}, {5, 3}}),
            (std::vector<CookieStep>{{Kind::kClear, 5, 0},
                                     {Kind::kCreate, 1, 0},
                                     {Kind::kShare, 2, 1},
                                     {Kind::kShare, 4, 3}}));
  EXPECT_TRUE(cookieSteps(wishes, {{1, 4}, {2, 4}, {3, 7}, {4, 7}, {5, 0}}).empty());
  // Two groups never keep one cookie; a process that ended is left out.
  EXPECT_EQ(cookieSteps(wishes, {{1, 4}, {3, 4}}),
            (std::vector<CookieStep>{{Kind::kCreate, 3, 0}}));
}

TEST(MachineStrategies, CoreGroups) {
  const auto strategy = api::decodeText<api::ResourceQosStrategy>(
      R"({"policies":{"cpuPolicy":"coreSched"},"lsClass":{"cpuQOS":{"enable":true,)"
      R"("coreExpeller":true}},"beClass":{"cpuQOS":{"enable":true,"schedIdle":1}}})");
  const auto group = [&](const char* qos, const char* labels) {
    const auto pod = api::decodeText<api::Pod>(
        fmt::format(R"({{"metadata":{{"name":"p","uid":"u1","labels":{{)"
                    R"("koordinator.sh/qosClass":"{}"{}}}}},"status":{{"qosClass":"Burstable"}}}})",
                    qos, labels));
    return coreGroup(*strategy, *pod).value_or("untouched");
  };
  EXPECT_EQ(group("LS", ""), "-expeller") << "case 117";
  EXPECT_EQ(group("LS", R"(,"koordinator.sh/core-sched-policy":"exclusive")"), "u1-expeller")
      << "case 117";
  EXPECT_EQ(group("LS", R"(,"koordinator.sh/core-sched-policy":"none")"), "");
  EXPECT_EQ(group("LS", R"(,"koordinator.sh/core-sched-group-id":"g")"), "g-expeller");
  EXPECT_EQ(group("BE", ""), "default");
  EXPECT_EQ(group("SYSTEM", ""), "untouched");
  EXPECT_EQ(group("LSR", ""), "") << "its class is off";
}

TEST(MachineStrategies, GroupIdentityTurnsItsSwitch) {
  MachineBench bench(machineDir("anolis-v1-resctrl"));
  bench.fs.write("proc/sys/kernel/sched_group_identity_enabled", "0\n");
  bench.fs.write("proc/sys/kernel/sched_core", "1\n");
  bench.slo(R"("resourceQOSStrategy":{"lsClass":{"cpuQOS":{"enable":true,"groupIdentity":2}},)"
            R"("beClass":{"cpuQOS":{"enable":true,"groupIdentity":-1}}})");
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.pod({.name = "web", .qos = "LS"});
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("proc/sys/kernel", "sched_group_identity_enabled"), "1");
  EXPECT_EQ(bench.read("proc/sys/kernel", "sched_core"), "0");
  EXPECT_EQ(bench.read("job", "cpu.bvt_warp_ns"), "-1");
  EXPECT_EQ(bench.read("web/c", "cpu.bvt_warp_ns"), "2");
  EXPECT_EQ(bench.read("BE", "cpu.bvt_warp_ns"), "-1");
  const auto log = bench.writes();
  EXPECT_NE(log.front().find("sched_core"), std::string::npos) << "switches first: " << log.front();
  bench.leave();
  EXPECT_EQ(bench.read("proc/sys/kernel", "sched_group_identity_enabled"), "0");
}

TEST(MachineStrategies, HostApplicationsGetTheirClass) {
  MachineBench bench(machineDir("anolis-v1-resctrl"));
  bench.fs.write("sys/fs/cgroup/cpuset/host-latency-sensitive/nginx/cpuset.cpus", "0-3\n");
  bench.fs.write("sys/fs/cgroup/cpu/host-latency-sensitive/nginx/cpu.bvt_warp_ns", "0\n");
  bench.fs.write("sys/fs/cgroup/cpuacct/host-latency-sensitive/nginx/cpuacct.usage", "0\n");
  bench.slo(R"("hostApplications":[{"name":"nginx","qos":"LS"}],"resourceQOSStrategy":{)"
            R"("lsClass":{"cpuQOS":{"enable":true,"groupIdentity":2}}})");
  bench.topology(
      R"({"node.koordinator.sh/cpu-shared-pools":"[{\"socket\":0,\"node\":0,\"cpuset\":\"1-2\"}]"})");
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("host-latency-sensitive/nginx", "cpuset.cpus"), "1-2");
  EXPECT_EQ(bench.read("host-latency-sensitive/nginx", "cpu.bvt_warp_ns"), "2");
}

// A pod's directory that nobody knows a pod for runs as its QoS directory does.
TEST(MachineStrategies, DanglingDirectoriesHaveTheIdentityOfTheirTier) {
  MachineBench bench(machineDir("anolis-v1-resctrl"));
  bench.fs.write("proc/sys/kernel/sched_group_identity_enabled", "0\n");
  bench.slo(R"("resourceQOSStrategy":{"lsClass":{"cpuQOS":{"enable":true,"groupIdentity":2}},)"
            R"("beClass":{"cpuQOS":{"enable":true,"groupIdentity":-1}}})");
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.start();
  bench.seconds(2);
  const std::string left = bench.cgroupOf("job");
  bench.remove("job");
  bench.fs.write("sys/fs/cgroup/cpu/" + left + "/cpu.bvt_warp_ns", "0\n");
  bench.seconds(12);
  EXPECT_EQ(bench.read(left, "cpu.bvt_warp_ns"), "-1");
}

// Lines of disks that nobody configured go, on both versions; those of the machine's other
// directories are none of ours.
TEST(MachineStrategies, ForeignDiskLimitsAreCleared) {
  for (const char* where : {"anolis-v1-resctrl", "v2-2socket-smt"}) {
    MachineBench bench(machineDir(where));
    const bool v2 = std::string(where).starts_with("v2");
    const std::string file = v2 ? "io.max" : "blkio.throttle.read_bps_device";
    const std::string limit = v2 ? "8:16 rbps=5 wbps=max riops=max wiops=max" : "8:16 5";
    const std::string none = v2 ? "8:16 rbps=max wbps=max riops=max wiops=max" : "8:16 0";
    ASSERT_TRUE(bench.gate("BlkIOReconcile=true"));
    bench.fs.write("sys/block/sda/dev", "8:0\n");
    bench.slo(R"("resourceQOSStrategy":{})");
    bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
    bench.pod({.name = "web", .qos = "LS"});
    bench.write("BE", file, limit);
    bench.write("web", file, limit);
    bench.start();
    bench.seconds(2);
    EXPECT_EQ(bench.read("BE", file), none) << where;
    EXPECT_EQ(bench.read("web", file), limit) << where;
    bench.leave();
    EXPECT_EQ(bench.read("BE", file), none) << "a limit of somebody who is gone does not come back";
  }
}

// What the NodeSLO switches off is off, whoever switched it on; what it does not speak of stays.
TEST(MachineStrategies, TheRootsCostModelGoesWhenItsClassIsSwitchedOff) {
  for (const char* where : {"anolis-v1-resctrl", "v2-2socket-smt"}) {
    MachineBench bench(machineDir(where));
    const std::string file =
        std::string(where).starts_with("v2") ? "io.cost.qos" : "blkio.cost.qos";
    const std::string model = "8:16 enable=1 ctrl=user rpct=95.00 rlat=3000";
    ASSERT_TRUE(bench.gate("BlkIOReconcile=true"));
    bench.fs.write("sys/block/sda/dev", "8:0\n");
    bench.write("", file, model);
    bench.slo(R"("resourceQOSStrategy":{})");
    bench.start();
    bench.seconds(2);
    EXPECT_EQ(bench.read("", file), model) << where;
    bench.slo(R"("resourceQOSStrategy":{"cgroupRoot":{"blkioQOS":{"enable":false}}})");
    bench.seconds(2);
    EXPECT_EQ(bench.read("", file), "8:16 enable=0") << where;
  }
}

}  // namespace
}  // namespace mangrove::agent
