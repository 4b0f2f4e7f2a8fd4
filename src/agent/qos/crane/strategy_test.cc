// Crane's rules through the whole agent: watermarks cross, pods slow down, leave, and come back.
#include "agent/qos/crane/strategy.h"

#include <gtest/gtest.h>

#include "agent/qos/testing/machine_bench.h"

namespace mangrove::agent {
namespace {

using testing::MachineBench;

constexpr const char* kThrottle =
    R"("throttle":{"cpuThrottle":{"minCPURatio":10,"stepCPURatio":20}})";

std::string rules(const std::string& action, const std::string& strategy = "None") {
  return R"("resourceUsedThresholdWithBE":{"enable":false},"extensions":{"Object":{)"
         R"("ensurance.crane.io":{"rules":{"q.cpu":{"name":"cpu","metricRule":{"name":)"
         R"("cpu_total_usage","value":"6k"},"avoidanceThreshold":2,"restoreThreshold":2,)"
         R"("actionName":"act","strategy":")" +
         strategy + R"("}},"actions":{"act":{"coolDownSeconds":60,)" + action +
         R"(}},"pods":{"p":{"labelSelector":{"matchLabels":{"kind":"batch"}},)"
         R"("allowedActions":["act"]}}}}})";
}

struct Crane {
  explicit Crane(const std::string& slo)
      : bench(std::string(MANGROVE_SOURCE_DIR) + "/test/machines/v2-2socket-smt") {
    EXPECT_TRUE(bench.gate("CraneQoS=true"));
    bench.slo(slo);
    bench.pod({.name = "web", .tier = "burstable", .qos = "LS"});
    for (const char* name : {"job", "other"})
      bench.pod({.name = name, .tier = "besteffort", .qos = "BE", .labels = R"(,"kind":"batch")"});
    bench.start();
    use(2, 1, 0.5);
  }
  void use(double web, double job, double other) {
    bench.use("web", web);
    bench.use("job", job);
    bench.use("other", other);
  }
  // Without the period, which the kernel adds by itself.
  std::string quota(const std::string& name) {
    const std::string text = bench.read(name + "/c", "cpu.cfs_quota_us");
    return text.substr(0, text.find(' '));
  }
  MachineBench bench;
};

TEST(CraneStrategy, SlowsDownAndRestores) {
  Crane node(rules(kThrottle));
  const std::string free = node.quota("job");
  node.bench.seconds(60);
  EXPECT_EQ(node.quota("job"), free);
  node.use(4, 3, 0.5);  // 7.5 cores of 6
  node.bench.seconds(6);
  EXPECT_EQ(node.quota("job"), free) << "one sample is not enough";
  node.bench.seconds(20);
  EXPECT_NE(node.quota("job"), free);
  EXPECT_EQ(node.bench.read("web/c", "cpu.cfs_quota_us").find("max"), 0u) << "no PodQOS matches";
  node.use(2, 1, 0.5);
  node.bench.seconds(600);
  EXPECT_EQ(node.quota("job"), free);
  EXPECT_TRUE(node.bench.evicted.empty());
}

TEST(CraneStrategy, ARestartedAgentGoesOn) {
  Crane node(rules(kThrottle));
  const std::string free = node.quota("job");
  node.use(4, 3, 0.5);
  node.bench.seconds(30);
  const std::string held = node.quota("job");
  EXPECT_NE(held, free);
  node.bench.killAndRestart();
  node.use(2, 1, 0.5);
  node.bench.seconds(600);
  EXPECT_EQ(node.quota("job"), free);
}

TEST(CraneStrategy, EvictsWhatIsNeededAndNoMore) {
  Crane node(rules(R"("eviction":{"terminationGracePeriodSeconds":7})"));
  node.use(4, 3, 0.5);
  node.bench.seconds(25);
  ASSERT_EQ(node.bench.evicted.size(), 1u);
  EXPECT_EQ(node.bench.evicted[0].pod->meta.name.view(), "job") << "it uses more";
  EXPECT_EQ(node.bench.evicted[0].grace, 7);
}

TEST(CraneStrategy, PreviewChangesNothing) {
  Crane node(rules(kThrottle, "Preview"));
  const std::string free = node.quota("job");
  node.use(4, 3, 0.5);
  node.bench.seconds(60);
  EXPECT_EQ(node.quota("job"), free);
}

TEST(CraneStrategy, RulesThatGoLeaveNothingBehind) {
  Crane node(rules(kThrottle));
  const std::string free = node.quota("job");
  node.use(4, 3, 0.5);
  node.bench.seconds(40);
  EXPECT_NE(node.quota("job"), free);
  node.bench.slo(R"("resourceUsedThresholdWithBE":{"enable":false})");
  node.bench.seconds(30);
  EXPECT_EQ(node.quota("job"), free);
}

}  // namespace
}  // namespace mangrove::agent
