// Every strategy over a whole small machine: what the files hold afterwards.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/hooks/group_identity.h"
#include "agent/qos/kernel_floor.h"
#include "agent/qos/testing/bench.h"

namespace mangrove::agent {
namespace {

using testing::EnforceBench;

const char* const kOn = R"("resourceUsedThresholdWithBE":{"enable":true})";
const char* const kBatch =
    R"({"requests":{"kubernetes.io/batch-cpu":"500","kubernetes.io/batch-memory":"1Gi"},)"
    R"("limits":{"kubernetes.io/batch-cpu":"1000","kubernetes.io/batch-memory":"1Gi"}})";

TEST(Strategies, BatchPodsGetTheirLimits) {
  EnforceBench bench;
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":false})");
  bench.pod("job", "be-1", "BE", "BestEffort", "{}", kBatch);
  bench.start();
  bench.seconds(2);
  for (const std::string& group : {bench.kBePod, bench.kBeContainer}) {
    EXPECT_EQ(bench.read("cpu", group, "cpu.shares"), "512");
    EXPECT_EQ(bench.read("cpu", group, "cpu.cfs_quota_us"), "100000");
    EXPECT_EQ(bench.read("memory", group, "memory.limit_in_bytes"), "1073741824");
  }
  bench.node("{}", R"({"node.koordinator.sh/cpu-normalization-ratio":"1.20"})");
  bench.seconds(1);
  EXPECT_EQ(bench.read("cpu", bench.kBePod, "cpu.cfs_quota_us"), "83334");
  // Suppression by quota: no child stands above the group.
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressPolicy":"cfsQuota"})");
  bench.seconds(1);
  EXPECT_EQ(bench.read("cpu", bench.kBePod, "cpu.cfs_quota_us"), "-1");
  EXPECT_NE(bench.read("cpu", bench.kBe, "cpu.cfs_quota_us"), "-1");
}

TEST(Strategies, KernelFloorIsForLabelledPodsOfColocatedNodesOnly) {
  EnforceBench bench;
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":false})");
  bench.pod("job", "be-1", "BE", "BestEffort", "{}", kBatch);
  bench.pod("web", "ls-1", "LS", "Burstable");
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("cpu", bench.kBePod, "cpu.idle"), "0");
  bench.slo(kOn);
  bench.seconds(1);
  EXPECT_EQ(bench.read("cpu", bench.kBePod, "cpu.idle"), "1");
  EXPECT_EQ(bench.read("cpu", bench.kBe, "cpu.idle"), "0") << "the kubelet writes here";
  EXPECT_EQ(bench.read("cpu", bench.kLsPod, "cpu.idle"), "0");
  bench.pod("job", "be-1", "", "BestEffort");
  bench.seconds(1);
  EXPECT_EQ(bench.read("cpu", bench.kBePod, "cpu.idle"), "0") << "not labelled any more";
}

// Where no kubelet writes to the directory the class is the whole group's, as long as nobody in it
// is there without the label; afterwards the group has the shares it had.
TEST(Strategies, KernelFloorOfAGroupOfOurOwn) {
  std::vector<std::unique_ptr<Strategy>> all;
  all.push_back(std::make_unique<KernelFloor>(true));
  EnforceBench bench(std::move(all));
  bench.slo(kOn);
  bench.write("cpu", bench.kBe, "cpu.shares", "2");
  bench.pod("job", "be-1", "BE", "BestEffort", "{}", kBatch);
  bench.start();
  bench.seconds(1);
  EXPECT_EQ(bench.read("cpu", bench.kBe, "cpu.idle"), "1");
  EXPECT_EQ(bench.read("cpu", bench.kBePod, "cpu.idle"), "0") << "shares count among pods";
  bench.write("cpu", bench.kBe, "cpu.shares", "1024");  // as the kernel does
  bench.pod("job", "be-1", "", "BestEffort");
  bench.seconds(1);
  EXPECT_EQ(bench.read("cpu", bench.kBe, "cpu.idle"), "0") << "somebody else's pod is in it";
  EXPECT_EQ(bench.read("cpu", bench.kBe, "cpu.shares"), "2");
}

// A kernel without identities: the idle class stands in for those behind, a weight for those ahead;
// on pods, and on nobody without the label. Without the setting everybody has what he had.
TEST(Strategies, GroupIdentityWithoutAKernelThatHasIt) {
  EnforceBench bench;
  const auto slo = [](const char* enable) {
    return fmt::format(
        R"("resourceUsedThresholdWithBE":{{"enable":false}},"resourceQOSStrategy":{{"policies":{{)"
        R"("cpuPolicy":"groupIdentity"}},"lsClass":{{"cpuQOS":{{"enable":{0},"groupIdentity":2}}}},)"
        R"("beClass":{{"cpuQOS":{{"enable":{0},"groupIdentity":-1}}}}}})",
        enable);
  };
  bench.slo(slo("true"));
  bench.pod("job", "be-1", "BE", "BestEffort", "{}", kBatch);
  bench.pod("web", "ls-1", "LS", "Burstable", "{}", R"({"requests":{"cpu":"500m"}})");
  bench.write("cpu", bench.kLsPod, "cpu.shares", "512");  // as the kubelet does
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("cpu", bench.kBePod, "cpu.idle"), "1");
  EXPECT_EQ(bench.read("cpu", bench.kBe, "cpu.idle"), "0");
  EXPECT_EQ(bench.read("cpu", bench.kLsPod, "cpu.idle"), "0");
  EXPECT_EQ(bench.read("cpu", bench.kLsPod, "cpu.shares"), "2048");
  EXPECT_EQ(bench.read("cpu", bench.kLs, "cpu.shares"), "2") << "the kubelet writes here";
  // The pod's own will.
  bench.pod("web", "ls-1", "LS", "Burstable",
            R"({"koordinator.sh/cpuQOS":"{\"enable\":true,\"groupIdentity\":1}"})",
            R"({"requests":{"cpu":"500m"}})");
  bench.seconds(1);
  EXPECT_EQ(bench.read("cpu", bench.kLsPod, "cpu.shares"), "1024");
  bench.slo(slo("false"));
  bench.pod("web", "ls-1", "LS", "Burstable", "{}", R"({"requests":{"cpu":"500m"}})");
  bench.seconds(1);
  EXPECT_EQ(bench.read("cpu", bench.kBePod, "cpu.idle"), "0");
  EXPECT_EQ(bench.read("cpu", bench.kLsPod, "cpu.shares"), "512");
}

TEST(Strategies, WeightsThatStandInForIdentities) {
  struct Row {
    int64_t milli, identity, want;
  };
  for (const Row& row : {Row{1000, 0, 1024}, Row{1000, 1, 2048}, Row{1000, 2, 4096},
                         Row{1000, -1, 1024}, Row{0, 2, 8}, Row{200'000, 2, 262144}})
    EXPECT_EQ(boostedShares({row.milli}, row.identity), row.want) << row.milli;
}

TEST(Strategies, ServicesGetTheSharedPool) {
  EnforceBench bench;
  bench.slo(kOn);
  bench.pod("web", "ls-1", "LS", "Burstable");
  bench.topology(
      R"({"node.koordinator.sh/cpu-shared-pools":"[{\"socket\":0,\"node\":0,\"cpuset\":\"2-7\"}]"})");
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("cpuset", bench.kLsContainer, "cpuset.cpus"), "2-7");
  // The scheduler bound it meanwhile: its own CPUs, and no quota.
  bench.write("cpu", bench.kLsPod, "cpu.cfs_quota_us", "100000");
  bench.pod("web", "ls-1", "LSR", "Burstable",
            R"({"scheduling.koordinator.sh/resource-status":"{\"cpuset\":\"4-5\"}"})");
  bench.seconds(1);
  EXPECT_EQ(bench.read("cpuset", bench.kLsContainer, "cpuset.cpus"), "4-5");
  EXPECT_EQ(bench.read("cpu", bench.kLsPod, "cpu.cfs_quota_us"), "-1");
}

TEST(Strategies, BurstScalesAThrottledServiceAndComesBack) {
  EnforceBench bench;
  bench.slo(R"("cpuBurstStrategy":{"policy":"auto","cpuBurstPercent":1000,)"
            R"("cfsQuotaBurstPercent":300,"sharePoolThresholdPercent":50})");
  bench.pod("web", "ls-1", "LS", "Burstable", "{}", R"({"limits":{"cpu":"2"}})");
  bench.write("cpu", bench.kLsContainer, "cpu.cfs_quota_us", "200000");
  bench.write("cpu", bench.kLsPod, "cpu.cfs_quota_us", "200000");
  bench.use(2, 2, 0);
  bench.throttle(0.5);
  bench.start();
  bench.seconds(3);
  const auto quota = [&](const std::string& group) {
    return std::stoll(bench.read("cpu", group, "cpu.cfs_quota_us"));
  };
  EXPECT_GT(quota(bench.kLsContainer), 200000);
  EXPECT_EQ(quota(bench.kLsPod), quota(bench.kLsContainer));
  // Mainline: never more saved than the quota.
  EXPECT_EQ(std::stoll(bench.read("cpu", bench.kLsContainer, "cpu.cfs_burst_us")),
            quota(bench.kLsContainer));
  bench.throttle(0);
  bench.seconds(60);
  EXPECT_EQ(quota(bench.kLsContainer), 200000);
  // Switched off: everything as it was.
  bench.slo(R"("cpuBurstStrategy":{"policy":"none"})");
  bench.seconds(1);
  EXPECT_EQ(bench.read("cpu", bench.kLsContainer, "cpu.cfs_burst_us"), "0");
}

TEST(Strategies, MemoryEvictionTakesOnePodAndCoolsDown) {
  EnforceBench bench;
  ASSERT_TRUE(bench.gate("BEMemoryEvict=true"));
  // 7 of 8 GiB are used.
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true,"memoryEvictThresholdPercent":80})");
  bench.pod("job", "be-1", "BE", "BestEffort", "{}", kBatch);
  bench.pod("web", "ls-1", "LS", "Burstable");
  bench.start();
  bench.seconds(2);
  ASSERT_EQ(bench.evicted.size(), 1u);
  EXPECT_EQ(bench.evicted[0].pod->meta.name.view(), "job");
  EXPECT_EQ(bench.evicted[0].feature, "BEMemoryEvict");
  EXPECT_EQ(bench.evicted[0].expected, int64_t{1} << 30);
  // Still terminating: it counts and is not sent away twice.
  bench.seconds(30);
  EXPECT_EQ(bench.evicted.size(), 1u);
}

TEST(Strategies, EvictionHonoursThePodsWill) {
  EnforceBench bench;
  ASSERT_TRUE(bench.gate("BEMemoryEvict=true"));
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true,"memoryEvictThresholdPercent":80})");
  bench.pod("job", "be-1", "BE", "BestEffort",
            R"({"koordinator.sh/eviction-policy":"[\"BECPUEvict\"]"})", kBatch);
  bench.start();
  bench.seconds(5);
  EXPECT_TRUE(bench.evicted.empty());
}

TEST(Strategies, LeavingGivesEverythingBack) {
  EnforceBench bench;
  bench.slo(kOn);
  bench.pod("job", "be-1", "BE", "BestEffort", "{}", kBatch);
  bench.start();
  bench.seconds(3);
  EXPECT_EQ(bench.read("cpu", bench.kBePod, "cpu.idle"), "1");
  EXPECT_FALSE(bench.enforcer->executor().held().empty());
  bench.enforcer->leave("test");
  EXPECT_EQ(bench.read("cpu", bench.kBePod, "cpu.idle"), "0");
  EXPECT_EQ(bench.read("cpuset", bench.kBe, "cpuset.cpus"), "0-7");
  EXPECT_EQ(bench.read("memory", bench.kBePod, "memory.limit_in_bytes"), "-1");
  EXPECT_TRUE(bench.enforcer->executor().held().empty());
}

}  // namespace
}  // namespace mangrove::agent
