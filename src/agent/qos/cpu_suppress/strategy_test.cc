// Suppression by the whole agent over a small machine: load comes and goes, policies flip.
#include "agent/qos/cpu_suppress/strategy.h"

#include <gtest/gtest.h>

#include "agent/gates.h"
#include "agent/qos/enforcer.h"
#include "agent/testing/scene.h"
#include "base/text/strings.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

const std::string kTree = "sys/fs/cgroup/";
const std::string kBe = "kubepods/besteffort";
const std::string kLs = "kubepods/burstable";

// Eight CPUs, cgroup v1, a service and a batch pod.
struct Bench {
  Bench() : gates(agentGates()), scene(fs.path(), agentOptions()) {
    fs.write("sys/devices/system/cpu/online", "0-7\n");
    fs.write("sys/devices/system/cpu/possible", "0-7\n");
    fs.write("proc/sys/kernel/random/boot_id", "boot-1\n");
    for (int i = 0; i < 8; ++i) {
      const std::string cpu = fmt::format("sys/devices/system/cpu/cpu{}/topology/", i);
      fs.write(cpu + "core_id", fmt::format("{}\n", i / 2));
      fs.write(cpu + "physical_package_id", "0\n");
    }
    for (const std::string& group : {std::string("kubepods"), kLs, kLs + "/podls-1", kBe,
                                     kBe + "/podbe-1", kBe + "/podbe-1/c1"}) {
      fs.write(kTree + "cpu/" + group + "/cpu.cfs_quota_us", "-1\n");
      fs.write(kTree + "cpu/" + group + "/cpu.cfs_period_us", "100000\n");
      fs.write(kTree + "cpuset/" + group + "/cpuset.cpus", "0-7\n");
      fs.write(kTree + "memory/" + group + "/memory.stat", "total_inactive_anon 0\n");
    }
    use(0, 0, 0);
    scene.put("Node", testing::nodeJson("n1", "8", "32Gi"));
    scene.put("Pod", pod("web", "ls-1", "LS", "Burstable"));
    scene.put("Pod", pod("job", "be-1", "BE", "BestEffort"));
  }
  static AgentOptions agentOptions() {
    AgentOptions options;
    options.machine.driver = kernel::CgroupDriver::kCgroupfs;
    return options;
  }
  static std::string pod(const char* name, const char* uid, const char* qos, const char* kube,
                         const char* annotations = "{}") {
    return fmt::format(
        R"({{"kind":"Pod","metadata":{{"name":"{}","namespace":"d","uid":"{}","resourceVersion":"{}",)"
        R"("labels":{{"koordinator.sh/qosClass":"{}"}},"annotations":{}}},)"
        R"("spec":{{"nodeName":"n1","containers":[{{"name":"c"}}]}},)"
        R"("status":{{"phase":"Running","qosClass":"{}"}}}})",
        name, uid, version++, qos, annotations, kube);
  }
  static std::string slo(const std::string& threshold) {
    return fmt::format(
        R"({{"kind":"NodeSLO","metadata":{{"name":"n1","resourceVersion":"{}"}},"spec":{{)"
        R"("resourceUsedThresholdWithBE":{}}}}})",
        version++, threshold);
  }
  // Cores used by the machine, the service and the batch pod, from now on.
  void use(double node, double service, double batch) { rates = {node, service, batch}; }
  void advance() {
    for (int i = 0; i < 3; ++i) totals[i] += rates[i];
    fs.write("proc/stat", fmt::format("cpu  {} 0 0 1 0 0 0 0 0 0\n", int64_t(totals[0] * 100)));
    fs.write("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n");
    const auto usage = [&](const std::string& group, double seconds) {
      fs.write(kTree + "cpuacct/" + group + "/cpuacct.usage",
               fmt::format("{}\n", int64_t(seconds * 1e9)));
      fs.write(kTree + "cpu/" + group + "/cpu.stat", "nr_periods 0\nnr_throttled 0\n");
    };
    usage("kubepods", totals[1] + totals[2]);
    usage(kLs, totals[1]);
    usage(kLs + "/podls-1", totals[1]);
    usage(kBe, totals[2]);
    usage(kBe + "/podbe-1", totals[2]);
    usage(kBe + "/podbe-1/c1", totals[2]);
  }
  void start() {
    advance();
    scene.start();
    auto strategies = std::vector<std::unique_ptr<Strategy>>();
    strategies.push_back(std::make_unique<CpuSuppress>());
    enforcer = std::make_unique<Enforcer>(
        EnforcerSetup{scene.agent().machine(), scene.clock, gates, audit}, EnforcerOptions{},
        std::move(strategies));
    scene.agent().onLook([this](const Look& look) {
      last = enforcer->tick(look, scene.agent().node().get(), scene.agent().topology().get());
    });
  }
  void seconds(int count) {
    scene.ticks(count, [&](int) { advance(); });
  }
  std::string quota() {
    return std::string(trim(fs.read(kTree + "cpu/" + kBe + "/cpu.cfs_quota_us")));
  }
  std::string cpus(const std::string& group) {
    return std::string(trim(fs.read(kTree + "cpuset/" + group + "/cpuset.cpus")));
  }

  static inline int version = 20;
  kernel::FakeRoot fs;
  FeatureGates gates;
  AuditLog audit;
  testing::Scene scene;
  std::unique_ptr<Enforcer> enforcer;
  ApplyReport last;
  std::array<double, 3> rates{}, totals{100, 40, 20};
};

TEST(CpuSuppress, CutsAtOnceAndGrowsSlowly) {
  Bench bench;
  bench.scene.put("NodeSLO", Bench::slo(R"({"enable":true,"cpuSuppressPolicy":"cfsQuota"})"));
  bench.use(3, 1, 2);
  bench.start();
  bench.seconds(3);
  // 65 % of 8 less one core of the service: 4.2.
  EXPECT_EQ(bench.quota(), "420000");
  bench.use(6, 4, 2);
  bench.seconds(1);
  EXPECT_EQ(bench.quota(), "120000");
  bench.use(3, 1, 2);
  bench.seconds(1);
  EXPECT_EQ(bench.quota(), "120000") << "held after the cut";
  bench.seconds(2);
  const int64_t grown = *parseInt<int64_t>(bench.quota());
  EXPECT_GT(grown, 120000);
  EXPECT_LT(grown, 300000);
  bench.seconds(60);
  // For a twentieth nothing is moved.
  EXPECT_NEAR(static_cast<double>(*parseInt<int64_t>(bench.quota())), 420000, 20000);
  EXPECT_EQ(bench.cpus(kBe), "0-7");
  bench.enforcer->leave("done");
  EXPECT_EQ(bench.quota(), "-1");
}

// A budget that swings around a whole number of CPUs does not move work to and fro.
TEST(CpuSuppress, DoesNotSwingWithTheLoad) {
  Bench bench;
  bench.scene.put("NodeSLO", Bench::slo(R"({"enable":true,"cpuSuppressPolicy":"cpuset"})"));
  bench.use(4.4, 1.4, 3);  // 5.2 - 1.4: 3.8 CPUs
  bench.start();
  bench.seconds(10);
  const uint64_t before = bench.audit.count();
  for (int i = 0; i < 30; ++i) {
    bench.use(3 + (i % 2 == 0 ? 1.1 : 1.3), i % 2 == 0 ? 1.1 : 1.3, 3);  // 4.1 and 3.9
    bench.seconds(1);
  }
  EXPECT_EQ(bench.cpus(kBe), "0-3");
  EXPECT_EQ(bench.audit.count(), before) << "nothing was written";
  bench.use(3.5, 0.5, 3);  // 4.7: for good
  bench.seconds(10);
  EXPECT_EQ(bench.cpus(kBe), "0-4");
}

// One quiet second between busy ones is no reason to grow.
TEST(CpuSuppress, GrowsForWhatLasts) {
  Bench bench;
  bench.scene.put("NodeSLO", Bench::slo(R"({"enable":true,"cpuSuppressPolicy":"cfsQuota"})"));
  bench.use(6, 4, 2);
  bench.start();
  bench.seconds(40);
  EXPECT_EQ(bench.quota(), "120000");
  bench.use(5.2, 3.2, 2);  // room for two
  bench.seconds(1);
  const int64_t first = *parseInt<int64_t>(bench.quota());
  EXPECT_GT(first, 120000);
  EXPECT_LT(first, 150000) << "a tenth of the machine would be allowed";
  bench.seconds(30);
  EXPECT_GE(*parseInt<int64_t>(bench.quota()), 190000);
}

TEST(CpuSuppress, FlipsBetweenPoliciesAndOff) {
  Bench bench;
  bench.scene.put("NodeSLO", Bench::slo(R"({"enable":true,"cpuSuppressPolicy":"cpuset"})"));
  bench.use(6, 4, 2);
  bench.start();
  bench.seconds(3);
  // 5.2 - 4 = 1.2 cores: two CPUs are the least.
  EXPECT_EQ(bench.cpus(kBe), "0-1");
  EXPECT_EQ(bench.cpus(kBe + "/podbe-1/c1"), "0-1");
  EXPECT_EQ(bench.quota(), "-1");
  bench.scene.event("NodeSLO", "MODIFIED",
                    Bench::slo(R"({"enable":true,"cpuSuppressPolicy":"cfsQuota"})"));
  bench.seconds(1);
  EXPECT_EQ(bench.cpus(kBe + "/podbe-1"), "0-7");
  EXPECT_EQ(bench.quota(), "120000");
  bench.scene.event("NodeSLO", "MODIFIED", Bench::slo(R"({"enable":false})"));
  bench.seconds(1);
  EXPECT_EQ(bench.quota(), "-1");
  EXPECT_EQ(bench.cpus(kBe + "/podbe-1/c1"), "0-7");
}

TEST(CpuSuppress, LeavesExclusiveCpusInTheSameTick) {
  Bench bench;
  bench.scene.put("NodeSLO", Bench::slo(R"({"enable":true,"cpuSuppressPolicy":"cpuset"})"));
  bench.use(6, 4, 2);
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.cpus(kBe), "0-1");
  bench.scene.event(
      "Pod", "ADDED",
      Bench::pod("db", "lse-1", "LSE", "Guaranteed",
                 R"({"scheduling.koordinator.sh/resource-status":"{\"cpuset\":\"0-3\"}"})"));
  bench.seconds(1);
  EXPECT_EQ(bench.cpus(kBe), "4-5");
  EXPECT_EQ(bench.cpus(kBe + "/podbe-1/c1"), "4-5");
}

// More than the machine has cannot be: usage is not believed, and what is exclusive is left all the
// same; for as long as it lasts.
TEST(CpuSuppress, LeavesExclusiveCpusWhileNothingIsKnown) {
  for (const char* policy : {"cpuset", "cfsQuota"}) {
    Bench bench;
    bench.scene.put("NodeSLO", Bench::slo(fmt::format(
                                   R"({{"enable":true,"cpuSuppressPolicy":"{}"}})", policy)));
    bench.use(6, 4, 2);
    bench.start();
    bench.seconds(2);
    bench.use(500, 4, 2);
    bench.scene.event(
        "Pod", "ADDED",
        Bench::pod("db", "lse-1", "LSE", "Guaranteed",
                   R"({"scheduling.koordinator.sh/resource-status":"{\"cpuset\":\"0-3\"}"})"));
    for (int i = 0; i < 15; ++i) {
      bench.seconds(1);
      EXPECT_EQ(bench.cpus(kBe), "4-7") << policy << " " << i;
      EXPECT_EQ(bench.cpus(kBe + "/podbe-1/c1"), "4-7") << policy << " " << i;
    }
    EXPECT_NE(bench.quota(), "-1") << "the conservative limit";
    EXPECT_TRUE(bench.enforcer->isBlind());
    bench.use(6, 4, 2);
    bench.seconds(3);
    EXPECT_FALSE(bench.enforcer->isBlind()) << "measured again";
  }
}

TEST(CpuSuppress, DoesNothingWithoutANodeSlo) {
  Bench bench;
  bench.use(6, 4, 2);
  bench.start();
  bench.seconds(3);
  EXPECT_EQ(bench.audit.count(), 0u);
}

TEST(CpuSuppress, KillSwitchGivesEverythingBack) {
  Bench bench;
  bench.scene.put("NodeSLO", Bench::slo(R"({"enable":true,"cpuSuppressPolicy":"cfsQuota"})"));
  bench.use(6, 4, 2);
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.quota(), "120000");
  bench.scene.event(
      "Node", "MODIFIED",
      R"({"metadata":{"name":"n1","resourceVersion":"12","labels":)"
      R"({"node.mangrove.io/enforcement":"off"}},"status":{"capacity":{"cpu":"8"}}})");
  bench.seconds(1);
  EXPECT_EQ(bench.quota(), "-1");
}

TEST(Damper, CutsAtOnceHoldsAndHalvesGrowth) {
  Damper damper;
  MonoTime now{std::chrono::seconds(100)};
  EXPECT_EQ(damper.next(now, 100, 150), 150);
  EXPECT_EQ(damper.next(now, 100, 40), 40);
  EXPECT_EQ(damper.next(now + std::chrono::seconds(1), 40, 60), 40);
  EXPECT_EQ(damper.next(now + std::chrono::seconds(3), 40, 60), 50);
  EXPECT_EQ(damper.next(now + std::chrono::seconds(60), 40, 60), 60);
}

}  // namespace
}  // namespace mangrove::agent
