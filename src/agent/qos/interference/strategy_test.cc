// Interference through the whole agent over captured machines: a service that waits, two batch pods,
// one of which makes it wait; the agent is killed whenever the lot says so.
#include "agent/qos/interference/strategy.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "agent/gates.h"
#include "agent/qos/testing/machine_bench.h"
#include "base/number/rng.h"
#include "base/testing/size.h"

namespace mangrove::agent {
namespace {

using testing::MachineBench;

class Suffering {
 public:
  Suffering(const char* machine, uint64_t seed, const char* gates)
      : bench(std::string(MANGROVE_SOURCE_DIR) + "/test/machines/" + machine), rng(seed) {
    EXPECT_TRUE(bench.gate(gates));
    bench.slo(R"("resourceUsedThresholdWithBE":{"enable":false})");
    bench.pod({.name = "web",
               .tier = "burstable",
               .qos = "LS",
               .resources = R"({"limits":{"cpu":"4"},"requests":{"cpu":"2"}})",
               .priority = 9500});
    for (const char* name : {"sort", "train"})
      bench.pod({.name = name, .tier = "besteffort", .qos = "BE"});
    bench.start();
    for (const char* name : {"sort", "train"}) before[name] = quotaOf(name);
  }

  double quotaOf(const std::string& name) {
    const std::string text = bench.read(name, "cpu.cfs_quota_us");
    const std::string first = text.substr(0, text.find(' '));
    return first == "max" || first == "-1" ? 1000 : std::stod(first) / 100'000;
  }

  void tick() {
    double stall = 2;
    bench.use("web", 2);
    for (const char* name : {"sort", "train"}) {
      const double cores = std::min(4.0, quotaOf(name));
      bench.use(name, cores);
      if (quotaOf(name) < 1000) held.insert(name);
      if (name == guilty && !calm) stall += 10 * cores;
    }
    stall += rng.unit();
    total += stall * 10'000;
    average += (stall - average) / 10;
    const std::string dir =
        bench.scene->agent().machine().trees().pressurePath(bench.cgroupOf("web"));
    bench.fs.write(dir + "/cpu.pressure",
                   fmt::format("some avg10={:.2f} avg60=0.00 avg300=0.00 total={}\n", average,
                               static_cast<int64_t>(total)));
    bench.seconds(1);
  }
  void ticks(int count) {
    for (int i = 0; i < count; ++i) tick();
  }
  void expectNoTrace(const std::string& when) {
    for (const char* name : {"sort", "train"})
      EXPECT_EQ(quotaOf(name), before[name]) << name << " " << when;
    for (const auto& [key, file] : bench.enforcer->executor().held())
      EXPECT_EQ(file.why.find("suffers"), std::string::npos) << key.cgroup << " " << file.why;
  }

  MachineBench bench;
  Rng rng;
  std::string guilty = "sort";
  bool calm = false;
  double total = 0, average = 2;
  std::set<std::string> held;
  std::map<std::string, double> before;  // quotas in cores
};

constexpr const char* kAll = "InterferencePSI=true,CausalCheck=true,MitigationLadder=true";
constexpr const char* kMachines[] = {"v2-2socket-smt", "anolis-v1-resctrl"};

TEST(InterferenceStrategy, HoldsTheGuiltyAndLetsGo) {
  Suffering node("v2-2socket-smt", 5, kAll);
  node.ticks(500);
  EXPECT_LT(node.quotaOf("sort"), 4);
  EXPECT_LT(node.average, 16);
  EXPECT_EQ(node.quotaOf("train"), node.before["train"]);
  std::string story;
  for (const std::string& line : node.bench.writes()) story += line + "\n";
  EXPECT_NE(story.find("guilty: +"), std::string::npos) << story;
  node.calm = true;
  node.ticks(2400);
  node.expectNoTrace("when it is calm");
}

TEST(InterferenceStrategy, OffByDefault) {
  Suffering node("v2-2socket-smt", 5, "InterferencePSI=false");
  node.ticks(150);
  EXPECT_TRUE(node.held.empty());
}

TEST(InterferenceStrategy, LooksOnlyWithoutProofAndLadder) {
  Suffering node("v2-2socket-smt", 5, "InterferencePSI=true");
  node.ticks(150);
  EXPECT_TRUE(node.held.empty());
}

TEST(InterferenceStrategy, WithoutProofNothingAgainstOnePod) {
  Suffering node("v2-2socket-smt", 5, "InterferencePSI=true,MitigationLadder=true");
  node.ticks(300);
  EXPECT_TRUE(node.held.empty());
}

// The random lives of a node, with experiments and rungs: killed at any point, nothing is left.
TEST(InterferenceStrategy, LeavesNoTraceHoweverOftenTheAgentIsKilled) {
  for (int life = 1; life <= sized(2, 100); ++life) {
    Rng rng(static_cast<uint64_t>(life));
    Suffering node(kMachines[life % 2], static_cast<uint64_t>(life), kAll);
    if (rng.below(4) == 0) node.guilty = "nobody";
    for (uint64_t kill = 0; kill <= rng.below(5); ++kill) {
      node.ticks(1 + static_cast<int>(rng.below(120)));
      node.bench.killAndRestart();
    }
    node.calm = true;
    node.ticks(2400);
    node.expectNoTrace(fmt::format("life {}", life));
    ASSERT_FALSE(::testing::Test::HasFailure()) << "life " << life;
  }
}

// A clean exit in the middle of an experiment gives everything back at once.
TEST(InterferenceStrategy, LeavingGivesBackAtOnce) {
  Suffering node("v2-2socket-smt", 5, kAll);
  for (int i = 0; i < 600 && node.held.empty(); ++i) node.tick();
  ASSERT_FALSE(node.held.empty());
  node.bench.leave();
  node.expectNoTrace("after leaving");
}

// A policy changes the NodeSLO at any moment, and a container may start before the next tick.
TEST(InterferenceStrategy, TheLastLookShowsTheNodeSloThatIsThere) {
  MachineBench bench(std::string(MANGROVE_SOURCE_DIR) + "/test/machines/v2-2socket-smt");
  bench.slo(R"("resourceUsedThresholdWithBE":{"cpuSuppressThresholdPercent":60})");
  bench.start();
  bench.seconds(1);
  bench.slo(R"("resourceUsedThresholdWithBE":{"cpuSuppressThresholdPercent":70})");
  const api::NodeSloSpec* slo = bench.scene->agent().look().slo;
  ASSERT_NE(slo, nullptr);
  EXPECT_EQ(slo->resourceUsedThresholdWithBe->cpuSuppressThresholdPercent.value().v, 70);
}

TEST(InterferenceSwitches, GatesAndPolicy) {
  FeatureGates gates(agentGates());
  EXPECT_FALSE(switchesOf(gates, {}).detects());
  ASSERT_TRUE(gates.set("InterferencePSI=true,CausalCheck=true,MitigationLadder=true"));
  api::InterferencePolicySpec policy;
  policy.detectors = {{"pressure", true}};
  policy.thresholds = {{"cpu", {4, 12}}};
  policy.ladder = {{"L7", false}, {"L5", true}};
  policy.pairs = 12;
  interference::Switches on = switchesOf(gates, policy);
  EXPECT_TRUE(on.detects() && on.ladder && on.causal);
  EXPECT_EQ(on.marks.cpu, (interference::Marks{4, 12}));
  EXPECT_EQ(on.off, std::set<interference::Rung>{interference::Rung::kLeave});
  EXPECT_EQ(on.rules.pairs, 12u);
  policy.dryRun = true;
  on = switchesOf(gates, policy);
  EXPECT_TRUE(on.detects());
  EXPECT_FALSE(on.ladder || on.causal) << "look and report, change nothing";
}

}  // namespace
}  // namespace mangrove::agent
