// The enforcing half as a running agent has it: what people hear of it.
#include "agent/qos/enforcement.h"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "agent/gates.h"
#include "agent/qos/testing/bench.h"
#include "base/check.h"
#include "base/testing/wait.h"

namespace mangrove::agent {
namespace {

using testing::EnforceBench;

// A whole Enforcement over the small machine, without threads.
struct Whole {
  Whole() : bench(nobody()), gates(agentGates()) {
    CHECK(gates.set("PressureCut=false,MemoryGiveBack=false"), "gates");
    bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressPolicy":"cfsQuota"})");
    bench.pod("job", "be-1", "BE", "BestEffort");
    bench.use(3, 1, 2);
    bench.start();
    enforcement = std::make_unique<Enforcement>(
        EnforcementSetup{bench.scene.agent(), bench.scene.api, bench.scene.owner, bench.scene.owner,
                         bench.scene.clock, metrics, gates},
        EnforcementOptions{.isLive = false});
  }
  // The bench's own enforcer wants nothing.
  static std::vector<std::unique_ptr<Strategy>> nobody() {
    std::vector<std::unique_ptr<Strategy>> out;
    out.push_back(std::make_unique<NullStrategy>());
    return out;
  }
  std::string quota() const { return bench.read("cpu", bench.kBe, "cpu.cfs_quota_us"); }
  bool inFailSafe() const {
    return metrics.exposition().find("\nmangrove_agent_fail_safe 1\n") != std::string::npos;
  }
  // Events about the node with that reason.
  int64_t events(std::string_view reason) const {
    return std::count_if(
        bench.scene.writes.begin(), bench.scene.writes.end(), [&](const auto& one) {
          const json::Object* body = one.second.if_object();
          const json::Value* said = body ? body->if_contains("reason") : nullptr;
          return said && said->is_string() && std::string_view(said->get_string()) == reason;
        });
  }

  EnforceBench bench;
  FeatureGates gates;
  Registry metrics;
  std::unique_ptr<Enforcement> enforcement;
};

// Stale inputs first hold what was decided, then fall back to the conservative limit; both ends are
// told, once each.
TEST(Enforcement, MissingMeasurementsHoldThenFallBackAndAreTold) {
  Whole whole;
  whole.bench.seconds(3);
  ASSERT_EQ(whole.quota(), "420000") << "65 % of 8 less one core of the service";
  EXPECT_FALSE(whole.inFailSafe());
  const uint64_t before = whole.enforcement->audit().count();
  whole.bench.use(500, 1, 2);  // more than the machine has: not believed
  for (int second = 1; second < 10; ++second) {
    whole.bench.seconds(1);
    EXPECT_EQ(whole.quota(), "420000") << second;
    EXPECT_FALSE(whole.inFailSafe()) << second;
  }
  EXPECT_EQ(whole.enforcement->audit().count(), before) << "held, not written again";
  EXPECT_EQ(whole.events("MeasurementsMissing"), 0);
  whole.bench.seconds(1);
  EXPECT_EQ(whole.quota(), "250000") << "two CPUs and a quarter more";
  EXPECT_TRUE(whole.inFailSafe());
  whole.bench.seconds(20);
  EXPECT_EQ(whole.events("MeasurementsMissing"), 1);
  EXPECT_EQ(whole.quota(), "250000");
  whole.bench.use(3, 1, 2);
  whole.bench.seconds(3);
  EXPECT_FALSE(whole.inFailSafe());
  EXPECT_EQ(whole.events("MeasurementsBack"), 1);
  EXPECT_EQ(whole.events("MeasurementsMissing"), 1);
  whole.bench.seconds(60);
  EXPECT_GT(std::stoll(whole.quota()), 390000) << "and slowly back";
}

// The conservative limit never gives more than there was.
TEST(Enforcement, FallingBackNeverWidens) {
  Whole whole;
  whole.bench.use(6, 4, 2);
  whole.bench.seconds(3);
  ASSERT_EQ(whole.quota(), "120000");
  whole.bench.use(500, 4, 2);
  whole.bench.seconds(15);
  EXPECT_EQ(whole.quota(), "120000");
  EXPECT_TRUE(whole.inFailSafe()) << "and yet it is said";
}

// Somebody reads the gauge although nothing ever went wrong.
TEST(Enforcement, TheGaugeIsThereFromTheFirstTick) {
  Whole whole;
  whole.bench.seconds(1);
  EXPECT_NE(whole.metrics.exposition().find("mangrove_agent_fail_safe 0"), std::string::npos);
}

// Whoever starts a container asks first: its CPUs are its own before its first process is there,
// not a tick later.
TEST(Enforcement, AContainerIsSetUpBeforeItStarts) {
  Whole whole;
  EnforceBench& bench = whole.bench;
  bench.pod("own", "ls-1", "LSR", "Burstable",
            R"({"scheduling.koordinator.sh/resource-status":"{\"cpuset\":\"4-5\"}"})");
  bench.topology(R"({"node.koordinator.sh/cpu-shared-pools":"[{\"cpuset\":\"0-3\"}]"})");
  bench.seconds(2);
  const std::string group = bench.kLsPod + "/cnew";
  bench.write("cpuset", group, "cpuset.cpus", "0-7");
  bench.write("cpu", group, "cpu.cfs_quota_us", "200000");
  const StartingContainer one{"ls-1", bench.kLsPod, kernel::PodTier::kBurstable,
                              "cnew", "main",       group};
  EXPECT_TRUE(whole.enforcement->containerStarts(one));
  EXPECT_EQ(bench.read("cpuset", group, "cpuset.cpus"), "4-5");
  EXPECT_EQ(bench.read("cpu", group, "cpu.cfs_quota_us"), "-1") << "CPUs of its own, no quota";
  EXPECT_FALSE(whole.enforcement->containerStarts({"nobody", "kubepods/podnobody"}))
      << "ask again when the pod is known";
}

// Files that a strategy wants and this machine does not have are a figure; and a foreign write does
// not wait for the tick.
TEST(Enforcement, MissingFilesAreCountedAndForeignWritesHeardOf) {
  Whole whole;
  std::filesystem::remove(whole.bench.fs.path() / "sys/fs/cgroup/cpu" / whole.bench.kBePod /
                          "cpu.shares");
  whole.bench.pod("job", "be-1", "BE", "BestEffort", "{}",
                  R"({"requests":{"kubernetes.io/batch-cpu":"500"},)"
                  R"("limits":{"kubernetes.io/batch-cpu":"1000"}})");
  whole.bench.seconds(3);
  const std::string text = whole.metrics.exposition();
  const auto at = text.find("\nmangrove_agent_control_files_missing ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_NE(text.substr(at, 41), "\nmangrove_agent_control_files_missing 0\n");
  const std::string cut = whole.quota();
  ASSERT_NE(cut, "-1");
  whole.bench.write("cpu", whole.bench.kBe, "cpu.cfs_quota_us", "-1");
  EXPECT_TRUE(runUntil(whole.bench.scene.owner, [&] { return whole.quota() == cut; }));
}

// Memory is short while nobody answers: the eviction is asked for again and again, taken once when
// the server is back, and not a second time.
TEST(Enforcement, AnEvictionIsNeitherLostNorDoubledByAnHourWithoutTheServer) {
  EnforceBench bench(Whole::nobody());
  FeatureGates gates(agentGates());
  ASSERT_TRUE(gates.set("PressureCut=false,MemoryGiveBack=false,BEMemoryEvict=true"));
  Registry metrics;
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true,"memoryEvictThresholdPercent":60})");
  bench.pod("job", "be-1", "BE", "BestEffort");
  bench.use(1, 0.5, 0.5);
  bench.start();
  Enforcement enforcement({bench.scene.agent(), bench.scene.api, bench.scene.owner,
                           bench.scene.owner, bench.scene.clock, metrics, gates},
                          EnforcementOptions{.isLive = false});
  const auto taken = [&] {
    return std::count_if(bench.scene.writes.begin(), bench.scene.writes.end(), [](const auto& one) {
      return one.first.find("eviction") != std::string::npos;
    });
  };
  bench.scene.apiAway = true;
  bench.seconds(3600);
  EXPECT_EQ(taken(), 0);
  bench.scene.apiAway = false;
  bench.seconds(60);
  EXPECT_EQ(taken(), 1);
}

}  // namespace
}  // namespace mangrove::agent
