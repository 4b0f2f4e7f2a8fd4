// Burst pools per NUMA node, who gives back first, and how much throttling counts.
#include "agent/qos/cpu_burst/pools.h"

#include <gtest/gtest.h>

#include "agent/qos/cpu_burst/strategy.h"
#include "agent/qos/cpu_burst/throttle_window.h"
#include "agent/qos/testing/bench.h"
#include "agent/qos/testing/machine_bench.h"
#include "api/wire/decode.h"

namespace mangrove::agent {
namespace {

using std::chrono::seconds;

// Sixteen CPUs, eight on each of two nodes.
std::vector<kernel::LogicalCpu> twoNodes() {
  std::vector<kernel::LogicalCpu> out;
  for (int i = 0; i < 16; ++i) out.push_back({.id = i, .core = i / 2, .node = i / 8});
  return out;
}

api::Pod podOf(const std::string& labels, const std::string& cpu, int priority = 0,
               const std::string& annotations = "{}") {
  return *api::decodeText<api::Pod>(
      fmt::format(R"({{"metadata":{{"name":"p","labels":{},"annotations":{}}},"spec":{{)"
                  R"("priority":{},"containers":[{{"name":"c","resources":{{"requests":)"
                  R"({{"cpu":"{}"}}}}}}]}}}})",
                  labels, annotations, priority, cpu));
}
const char* const kLsLabel = R"({"koordinator.sh/qosClass":"LS"})";

TEST(BurstPools, APodIsTakenOffTheNodesItRunsOn) {
  const auto cpus = twoNodes();
  const api::Pod lsr = podOf(R"({"koordinator.sh/qosClass":"LSR"})", "4");
  const api::Pod batch = podOf(R"({"koordinator.sh/qosClass":"BE"})", "0");
  const api::Pod service = podOf(kLsLabel, "4");
  const PoolUser users[] = {{&lsr, 3.0, CpuSet::range(0, 3)},
                            {&batch, 4.0, CpuSet{6, 7, 8, 9}},
                            {&service, 2.0, CpuSet::range(0, 7)}};
  const auto pools = numaPools(cpus, {{0, 7.0}, {1, 2.0}}, users);
  ASSERT_EQ(pools.size(), 2u);
  EXPECT_DOUBLE_EQ(pools[0].total, 4);
  EXPECT_DOUBLE_EQ(*pools[0].used, 7.0 - 3 - 2);
  EXPECT_DOUBLE_EQ(pools[1].total, 8);
  EXPECT_DOUBLE_EQ(*pools[1].used, 2.0 - 2);
}

TEST(BurstPools, EachNodeIsJudgedByItself) {
  const std::vector<NumaPool> pools = {{0, 8, 7.0}, {1, 8, 1.0}, {2, 8, std::nullopt}};
  struct Row {
    NodeMask nodes;
    PoolState want;
  };
  for (const Row& row :
       {Row{1, PoolState::kOverload}, Row{2, PoolState::kIdle}, Row{3, PoolState::kOverload},
        Row{4, PoolState::kUnknown}, Row{6, PoolState::kUnknown}, Row{8, PoolState::kUnknown}})
    EXPECT_EQ(poolStateOf(pools, row.nodes, 50), row.want) << row.nodes;
  EXPECT_EQ(poolStateOf(pools, 3, 54), PoolState::kCooling) << "8 of 16";
}

// On every machine all nodes together are what the reference's one pool is.
TEST(BurstPools, AllNodesTogetherAreTheWholePool) {
  const auto cpus = twoNodes();
  const api::Pod lsr = podOf(R"({"koordinator.sh/qosClass":"LSR"})", "8");
  for (double used : {7.0, 6.25, 5.0}) {
    const PoolPod plain{&lsr, used};
    const PoolUser user{&lsr, used, CpuSet()};
    const auto pools = numaPools(cpus, {{0, 9.0}, {1, 1.0}}, {&user, 1});
    EXPECT_EQ(poolStateOf(pools, nodesOf(cpus, {}), 50), sharePoolState(16, {&plain, 1}, 10, 50));
  }
}

TEST(BurstPools, NodesOfCpus) {
  const auto cpus = twoNodes();
  EXPECT_EQ(nodesOf(cpus, CpuSet{1, 2}), 1u);
  EXPECT_EQ(nodesOf(cpus, CpuSet{15}), 2u);
  EXPECT_EQ(nodesOf(cpus, CpuSet{7, 8}), 3u);
  EXPECT_EQ(nodesOf(cpus, CpuSet()), 3u) << "anywhere";
  EXPECT_EQ(nodesOf(cpus, CpuSet{99}), 3u) << "nowhere we know";
}

TEST(BurstPools, ServicesThatStateANeedGiveBackLast) {
  const api::Pod none = podOf("{}", "1", 9000);
  const api::Pod low = podOf(kLsLabel, "1", 100);
  const api::Pod high = podOf(kLsLabel, "1", 9000);
  const api::Pod states =
      podOf(kLsLabel, "1", 100, R"({"koordinator.sh/cpuBurst":"{\"policy\":\"auto\"}"})");
  EXPECT_LT(shrinkOrder(none), shrinkOrder(low));
  EXPECT_LT(shrinkOrder(low), shrinkOrder(high));
  EXPECT_LT(shrinkOrder(high), shrinkOrder(states));
}

TEST(BurstPools, OnlyTheFirstInOrderShrinks) {
  using enum PoolState;
  const PoolMember low{{0, 1}, 1, kOverload, true}, high{{1, 1}, 1, kOverload, true};
  const PoolMember elsewhere{{1, 1}, 2, kOverload, true}, both{{2, 1}, 3, kOverload, true};
  const PoolMember calm{{1, 1}, 1, kIdle, true};
  EXPECT_EQ(inShrinkOrder(std::vector{low, high, elsewhere, both, calm}),
            (std::vector{kOverload, kCooling, kOverload, kCooling, kIdle}));
  PoolMember done = low;
  done.boosted = false;
  EXPECT_EQ(inShrinkOrder(std::vector{done, high}), (std::vector{kOverload, kOverload}))
      << "who has nothing to give back keeps nobody waiting";
}

TEST(ThrottleWindow, ThreePeriodsAndATwentieth) {
  struct Row {
    PeriodCount seen;
    bool want;
  };
  for (const Row& row : {Row{{10, 2}, false}, Row{{10, 3}, true}, Row{{3, 3}, true},
                         Row{{60, 3}, false}, Row{{59, 3}, true}, Row{{0, 0}, false}})
    EXPECT_EQ(isShortOfQuota(row.seen), row.want) << row.seen.throttled << "/" << row.seen.passed;
}

TEST(ThrottleWindow, OldPeriodsDoNotCount) {
  ThrottleWindow window;
  const MonoTime start{seconds(100)};
  window.add(start, {10, 1});
  window.add(start + seconds(1), {10, 1});
  EXPECT_FALSE(window.isShort(start + seconds(1)));
  window.add(start + seconds(2), {10, 1});
  EXPECT_TRUE(window.isShort(start + seconds(2)));
  EXPECT_FALSE(window.isShort(start + seconds(3))) << "the first is too old";
  window.add(start + seconds(3), {10, 5});
  window.clear();
  EXPECT_FALSE(window.isShort(start + seconds(3)));
}

// One throttled period in a second moves nothing; a second's worth of them does, as before. The
// reference's rule, with the gate off, moves at once and never comes back by itself.
TEST(CpuBurst, SteadyAndPlainRule) {
  for (const bool steady : {true, false}) {
    testing::EnforceBench bench;
    ASSERT_TRUE(bench.gate(steady ? "SteadyBurst=true" : "SteadyBurst=false"));
    bench.slo(R"("cpuBurstStrategy":{"policy":"cfsQuotaBurstOnly","cfsQuotaBurstPercent":300,)"
              R"("sharePoolThresholdPercent":50})");
    bench.pod("web", "ls-1", "LS", "Burstable", "{}", R"({"limits":{"cpu":"2"}})");
    bench.write("cpu", bench.kLsContainer, "cpu.cfs_quota_us", "200000");
    bench.use(2, 2, 0);
    bench.start();
    bench.seconds(2);
    bench.throttle(0.1);
    bench.seconds(1);
    const auto quota = [&] {
      return std::stoll(bench.read("cpu", bench.kLsContainer, "cpu.cfs_quota_us"));
    };
    EXPECT_EQ(quota(), steady ? 200000 : 240000);
    bench.throttle(0.5);
    bench.seconds(1);
    EXPECT_EQ(quota(), steady ? 240000 : 288000);
    bench.throttle(0);
    bench.seconds(30);
    EXPECT_EQ(quota(), steady ? 200000 : 288000);
  }
}

// Two nodes, one of them busy: as a whole the machine is overloaded, and yet the service of the
// idle node gets its burst.
TEST(CpuBurst, ABusyNodeDoesNotHoldBackTheOther) {
  testing::MachineBench bench(std::string(MANGROVE_SOURCE_DIR) + "/test/machines/v2-2socket-smt");
  bench.countEachCpu();
  bench.slo(R"("cpuBurstStrategy":{"policy":"cfsQuotaBurstOnly","cfsQuotaBurstPercent":300,)"
            R"("sharePoolThresholdPercent":50})");
  auto machine = Machine::open({.root = bench.fs.path(), .live = false});
  ASSERT_TRUE(machine);
  bench.topology(fmt::format(
      R"({{"node.koordinator.sh/cpu-shared-pools":"[{{\"socket\":0,\"node\":0,\"cpuset\":\"{}\"}},)"
      R"({{\"socket\":1,\"node\":1,\"cpuset\":\"{}\"}}]"}})",
      (*machine)->cpus().cpusOfNode(0).text(), (*machine)->cpus().cpusOfNode(1).text()));
  const auto on = [](int node) {
    return fmt::format(
        R"({{"scheduling.koordinator.sh/resource-status":"{{\"numaNodeResources\":[{{\"node\":{},)"
        R"(\"resources\":{{\"cpu\":\"2\"}}}}]}}"}})",
        node);
  };
  const std::string limit = R"({"limits":{"cpu":"2"}})";
  bench.pod({.name = "load", .qos = "LS", .annotations = on(0)});
  bench.pod({.name = "here", .qos = "LS", .resources = limit, .annotations = on(0)});
  bench.pod({.name = "there", .qos = "LS", .resources = limit, .annotations = on(1)});
  for (const char* where : {"here", "here/c", "there", "there/c"})
    bench.write(where, "cpu.cfs_quota_us", "200000 100000");
  bench.start();
  bench.use("load", 7.5);
  bench.use("here", 0.5);
  bench.use("there", 0.5);
  bench.seconds(4);
  bench.throttle("here", 0.5);
  bench.throttle("there", 0.5);
  bench.seconds(2);
  EXPECT_EQ(bench.read("here/c", "cpu.cfs_quota_us"), "200000 100000");
  EXPECT_EQ(bench.read("there/c", "cpu.cfs_quota_us"), "288000") << "two steps";
  EXPECT_EQ(bench.read("there", "cpu.cfs_quota_us"), "288000") << "its pod with it";
}

// A second of load neither closes the pool nor, when it was closed, opens it.
TEST(CpuBurst, ThePoolIsJudgedOverFiveSeconds) {
  testing::EnforceBench bench;
  ASSERT_TRUE(bench.gate("SteadyBurst=false"));
  bench.slo(R"("cpuBurstStrategy":{"policy":"cfsQuotaBurstOnly","cfsQuotaBurstPercent":1000,)"
            R"("sharePoolThresholdPercent":50})");
  bench.pod("web", "ls-1", "LS", "Burstable", "{}", R"({"limits":{"cpu":"1"}})");
  bench.write("cpu", bench.kLsContainer, "cpu.cfs_quota_us", "100000");
  const auto quota = [&] {
    return std::stoll(bench.read("cpu", bench.kLsContainer, "cpu.cfs_quota_us"));
  };
  bench.use(1, 1, 0);
  bench.start();
  bench.seconds(6);
  bench.throttle(0.5);
  bench.use(8, 1, 0);  // of 8 CPUs: at this moment overloaded, 2.4 over five seconds
  bench.seconds(1);
  EXPECT_EQ(quota(), 120000) << "up";
  bench.seconds(4);
  EXPECT_LT(quota(), 144000) << "it lasts";
  const int64_t before = quota();
  bench.use(1, 1, 0);
  bench.seconds(1);
  EXPECT_LE(quota(), before) << "6.6 over five seconds";
}

// The pod's quota leaves room for containers and sidecars that are not there at the moment.
TEST(CpuBurst, SidecarsAndRestartingContainersKeepTheirRoom) {
  struct Row {
    const char* spec;
    int64_t present;  // of the pod
    int64_t want;     // -1: the pod's file is left alone
  };
  const std::string main = R"("containers":[{"name":"main","resources":{"limits":{"cpu":"2"}}})";
  for (const Row& row : {
           Row{R"(])", 200000, 240000},
           Row{R"(,{"name":"late","resources":{"limits":{"cpu":"1"}}}])", 300000, 340000},
           Row{R"(],"initContainers":[{"name":"proxy","restartPolicy":"Always","resources":{)"
               R"("limits":{"cpu":"500m"}}}])",
               250000, 290000},
           Row{R"(],"initContainers":[{"name":"load","resources":{"limits":{"cpu":"8"}}}])", 800000,
               800000},
           Row{R"(],"initContainers":[{"name":"proxy","restartPolicy":"Always"}])", 200000, -1},
           Row{R"(],"resources":{"limits":{"cpu":"2"}})", 200000, -1},
       }) {
    testing::MachineBench bench(std::string(MANGROVE_SOURCE_DIR) + "/test/machines/v2-2socket-smt");
    bench.start();
    bench.seconds(1);
    const auto pod = std::make_shared<api::Pod>(*api::decodeText<api::Pod>(
        R"({"metadata":{"name":"p","uid":"u","labels":{"koordinator.sh/qosClass":"LS"}},"spec":{)" +
        main + row.spec + "}}"));
    ContainerLook container;
    container.serial = 1, container.name = "main", container.cgroup = "p/main";
    container.throttled = 0.5, container.periods = {10, 5};
    PodLook look;
    look.pod = pod, look.cgroup = "p", look.containers = std::span(&container, 1);
    const api::NodeSloSpec slo = *api::decodeText<api::NodeSloSpec>(
        R"({"cpuBurstStrategy":{"policy":"auto","cfsQuotaBurstPercent":300,)"
        R"("sharePoolThresholdPercent":50}})");
    Look tick = bench.scene->look();
    tick.pods = std::span(&look, 1), tick.slo = &slo, tick.node.usage.cpu = 1;
    class Present final : public PresentValues {
     public:
      explicit Present(int64_t pod) : pod_(pod) {}
      std::optional<FileValue> present(std::string_view cgroup, std::string_view) const override {
        return FileValue::of(cgroup == "p" ? pod_ : 200000);
      }
      int64_t pod_;
    };
    const Present present(row.present);
    CpuBurst burst;
    int64_t got = -1;
    for (const Wish& wish : burst.decide({tick, nullptr, nullptr, present, bench.gates}).values)
      if (wish.cgroup == "p" && wish.resource == "cpu.cfs_quota_us") got = wish.part.value.number;
    EXPECT_EQ(got, row.want) << row.spec;
  }
}

}  // namespace
}  // namespace mangrove::agent
