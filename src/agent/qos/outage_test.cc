// The API server is away, and the agent is killed and started again meanwhile: it goes on with what it
// was told last.
#include <gtest/gtest.h>

#include "agent/qos/testing/machine_bench.h"

namespace mangrove::agent {
namespace {

using testing::MachineBench;

constexpr const char* kBatch =
    R"({"requests":{"kubernetes.io/batch-cpu":"500","kubernetes.io/batch-memory":"1Gi"},)"
    R"("limits":{"kubernetes.io/batch-cpu":"1000","kubernetes.io/batch-memory":"1Gi"}})";

struct Outage {
  Outage() : bench(MANGROVE_SOURCE_DIR "/test/machines/v1-2core-vm") {
    bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressPolicy":"cfsQuota"})");
    bench.pod({.name = "job", .tier = "besteffort", .qos = "BE", .resources = kBatch});
    bench.pod({.name = "web", .qos = "LS"});
    bench.use("web", 0.5);
    bench.use("job", 0.5);
    bench.start();
    bench.seconds(5);
  }
  std::string quota() const { return bench.read("BE", "cpu.cfs_quota_us"); }
  std::string limit() const { return bench.read("job", "memory.limit_in_bytes"); }
  MachineBench bench;
};

TEST(Outage, ARestartGoesOnWithTheLastNodeSloAndHoldsWhatPodsHave) {
  Outage test;
  ASSERT_EQ(test.quota(), "80000") << "65 % of two CPUs less half a core";
  ASSERT_EQ(test.limit(), "1073741824");
  test.bench.scene->apiAway = true;
  test.bench.killAndRestart();
  test.bench.seconds(5);
  ASSERT_NE(test.bench.scene->look().slo, nullptr);
  EXPECT_TRUE(*test.bench.scene->look().slo->resourceUsedThresholdWithBe->enable);
  EXPECT_EQ(test.limit(), "1073741824") << "pods that are not known yet keep what they have";
  test.bench.use("web", 1.0);
  test.bench.seconds(5);
  EXPECT_NE(test.quota(), "-1") << "best-effort work is still held";
  EXPECT_LE(std::stoll(test.quota()), 80000);
  test.bench.scene->apiAway = false;
  test.bench.seconds(120);
  EXPECT_EQ(test.limit(), "1073741824");
  EXPECT_TRUE(test.bench.scene->agent().knowsPods());
}

// What the server does not have any more when it is back is not remembered for ever.
TEST(Outage, WithoutAStateDirectoryNothingIsRecalled) {
  Outage test;
  test.bench.fs.remove("agent-state");
  test.bench.scene->apiAway = true;
  test.bench.killAndRestart();
  test.bench.seconds(2);
  EXPECT_EQ(test.bench.scene->look().slo, nullptr);
  EXPECT_EQ(test.limit(), "1073741824") << "and still nothing is let go";
  EXPECT_EQ(test.quota(), "80000");
}

// An hour without the server, with the agent killed every quarter of it: at no second has best-effort
// work more than before, nobody is sent away, and with the server back suppression goes on.
TEST(Outage, AnHourWithRestartsHoldsTheLimits) {
  Outage test;
  test.bench.scene->apiAway = true;
  for (int quarter = 0; quarter < 4; ++quarter) {
    test.bench.killAndRestart();
    test.bench.use("web", quarter % 2 == 0 ? 1.0 : 0.5);
    for (int second = 0; second < 900; ++second) {
      test.bench.seconds(1);
      ASSERT_NE(test.quota(), "-1") << quarter << ":" << second;
      ASSERT_LE(std::stoll(test.quota()), 80000) << quarter << ":" << second;
      ASSERT_EQ(test.limit(), "1073741824") << quarter << ":" << second;
    }
  }
  EXPECT_TRUE(test.bench.evicted.empty()) << "nobody is sent away for want of an answer";
  test.bench.scene->apiAway = false;
  test.bench.seconds(120);
  EXPECT_TRUE(test.bench.scene->agent().knowsPods());
  EXPECT_EQ(test.limit(), "1073741824");
  test.bench.use("web", 1.0);
  test.bench.seconds(5);
  EXPECT_EQ(test.quota(), "30000") << "65 % of two CPUs less one";
}

}  // namespace
}  // namespace mangrove::agent
