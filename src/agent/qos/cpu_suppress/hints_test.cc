// Preferences among CPUs: memory, interrupts, and that small changes move nobody.
#include "agent/qos/cpu_suppress/hints.h"

#include <gtest/gtest.h>

#include "agent/qos/cpu_suppress/pick.h"
#include "agent/qos/testing/machine_bench.h"

namespace mangrove::agent {
namespace {

// Sixteen CPUs, threads of a core side by side, eight on each of two nodes.
Cpus twoNodes() {
  Cpus out;
  for (int i = 0; i < 16; ++i)
    out.push_back({.id = i, .core = i / 2, .socket = i / 8, .node = i / 8});
  return out;
}

std::string pick(size_t count, const CpuHints& hints) {
  return CpuSet::of(pickCpus(twoNodes(), count, hints)).text();
}

TEST(CpuHints, WithoutHintsAsTheReferencePicks) {
  for (size_t count = 1; count <= 16; ++count)
    EXPECT_EQ(pickCpus(twoNodes(), count, {}), pickCpus(twoNodes(), count));
}

TEST(CpuHints, CpusAreWhereTheMemoryIs) {
  struct Row {
    NodeShares memory;
    size_t count;
    const char* want;
  };
  for (const Row& row :
       {Row{{{0, 0.0}, {1, 1.0}}, 4, "8-11"}, Row{{{0, 0.25}, {1, 0.75}}, 8, "0-1,8-13"},
        Row{{{0, 0.75}, {1, 0.25}}, 2, "0-1"}, Row{{{0, 0.0}, {1, 1.0}}, 10, "0-1,8-15"},
        Row{{{0, 0.0}, {1, 1.0}}, 16, "0-15"}, Row{{{1, 1.0}}, 3, "8-10"}})
    EXPECT_EQ(pick(row.count, {row.memory, {}}), row.want) << row.count;
  EXPECT_TRUE(pickCpus(twoNodes(), 17, {{{1, 1.0}}, {}}).empty()) << "more than there are";
}

// A CPU more keeps all the others: whole cores come and go at the end of the list.
TEST(CpuHints, GrowthMovesNobody) {
  const CpuHints hints{{{0, 0.3}, {1, 0.7}}, CpuSet{8, 2}};
  CpuSet before;
  for (size_t count = 2; count <= 16; count += 2) {
    const CpuSet now = CpuSet::of(pickCpus(twoNodes(), count, hints));
    EXPECT_EQ(now.size(), count);
    EXPECT_TRUE(before.isSubsetOf(now)) << before.text() << " and " << now.text();
    before = now;
  }
}

TEST(CpuHints, LoudCoresComeLast) {
  EXPECT_EQ(pick(4, {{}, CpuSet{0}}), "2-3,8-9") << "its sibling is no better";
  EXPECT_EQ(pick(14, {{}, CpuSet{0}}), "2-15");
  EXPECT_EQ(pick(15, {{}, CpuSet{0}}), "0,2-15") << "and yet before none at all";
  EXPECT_EQ(pick(2, {{}, CpuSet::range(0, 15)}), "0-1");
}

kernel::NumaStat statOf(std::initializer_list<int64_t> anon) {
  kernel::NumaStat out;
  for (int64_t bytes : anon) out.nodes[out.count++].anon = Bytes{bytes};
  return out;
}

TEST(CpuHints, OnlyLopsidedMemoryCounts) {
  EXPECT_EQ(memoryShares(statOf({50, 50})), NodeShares{});
  EXPECT_EQ(memoryShares(statOf({35, 65})), NodeShares{}) << "not worth moving for";
  EXPECT_EQ(memoryShares(statOf({25, 75})), (NodeShares{{0, 0.25}, {1, 0.75}}));
  EXPECT_EQ(memoryShares(statOf({0, 0})), NodeShares{});
  EXPECT_EQ(memoryShares(statOf({100})), NodeShares{}) << "one node";
}

TEST(CpuHints, SmallChangesKeepThePreference) {
  const NodeShares before{{0, 0.25}, {1, 0.75}};
  EXPECT_EQ(steadyShares(before, {{0, 0.1}, {1, 0.9}}), before);
  EXPECT_EQ(steadyShares(before, {{0, 0.6}, {1, 0.4}}), (NodeShares{{0, 0.6}, {1, 0.4}}));
  EXPECT_EQ(steadyShares(before, {}), NodeShares{}) << "even again";
  EXPECT_EQ(steadyShares({}, before), before);
}

TEST(CpuHints, LoudCpusHaveADeadBand) {
  const std::map<int, double> shares{{0, 0.12}, {1, 0.07}, {2, 0.07},
                                     {3, 0.01}, {4, 0.3},  {5, 0.0}};
  EXPECT_EQ(loudCpus(CpuSet{1, 3, 5}, shares, CpuSet{4, 5}).text(), "0-1,5")
      << "4 is best-effort work's own doing, perhaps; of 5 nothing new is known";
}

TEST(CpuHints, InterruptsBetweenTwoReadings) {
  const auto shares =
      interruptShares({{0, {10, 1000}}, {1, {10, 1000}}, {2, {10, 1000}}},
                      {{0, {60, 1500}}, {1, {5, 1500}}, {2, {10, 1000}}, {3, {1, 9}}});
  EXPECT_EQ(shares, (std::map<int, double>{{0, 0.1}}))
      << "backwards, standing and new are left out";
}

// Over a captured machine with two nodes: best-effort memory is all on the second one.
TEST(CpuHints, TheStrategyFollowsTheMemory) {
  testing::MachineBench bench(std::string(MANGROVE_SOURCE_DIR) + "/test/machines/v2-2socket-smt");
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressThresholdPercent":25})");
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.write("BE", "memory.numa_stat", "anon N0=0 N1=1073741824\nfile N0=0 N1=0");
  bench.start();
  bench.seconds(2);
  auto cpus = CpuSet::parse(bench.read("BE", "cpuset.cpus"));
  ASSERT_TRUE(cpus);
  EXPECT_EQ(cpus->size(), 4u);
  EXPECT_TRUE(cpus->isSubsetOf(bench.scene->agent().machine().cpus().cpusOfNode(1)))
      << cpus->text();
  bench.write("BE", "memory.numa_stat", "anon N0=536870912 N1=536870912\nfile N0=0 N1=0");
  bench.seconds(11);
  cpus = CpuSet::parse(bench.read("BE", "cpuset.cpus"));
  EXPECT_FALSE(cpus->isSubsetOf(bench.scene->agent().machine().cpus().cpusOfNode(1)));
}

}  // namespace
}  // namespace mangrove::agent
