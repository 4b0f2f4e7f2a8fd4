// Small clusters lived through as a whole.
#include "sim/simulation.h"

#include <gtest/gtest.h>

#include "api/wire/names.h"
#include "sim/compare.h"
#include "sim/shapes.h"

namespace mangrove::sim {
namespace {

Trace small(uint64_t seed, int64_t nodes = 6) {
  return generate(*findShape("commerce"), {.nodes = nodes, .days = 1, .seed = seed});
}

Policy policy(std::string_view name) {
  auto out = builtInPolicy(name);
  EXPECT_TRUE(out) << out.error().text();
  return *out;
}

// What tasks hold may be above what is for sale only where the amount fell after they came.
struct NothingSoldTwice {
  std::map<const SimNode*, std::pair<int64_t, int64_t>> before;  // held by tasks, for sale
  int looks = 0;

  void operator()(Seconds now, const std::vector<std::unique_ptr<SimNode>>& nodes) {
    for (const auto& node : nodes) {
      int64_t batch = 0, cpu = 0;
      for (const SimPod& pod : node->pods()) (pod.isTask ? batch : cpu) += pod.cpu.v;
      const auto& status = node->object()->status;
      auto& [held, sold] = before[node.get()];
      EXPECT_LE(batch, std::max(held, sold)) << "batch at " << now;
      held = batch;
      sold = status.allocatable.amount(api::resource::kBatchCpu).value();
      EXPECT_LE(cpu, status.allocatable.cpu().v) << "services at " << now;
      double got = 0;
      for (const SimPod& pod : node->pods()) got += pod.got;
      EXPECT_LE(got, static_cast<double>(status.capacity.cpu().v) / 1000 + 1e-9) << now;
      looks++;
    }
  }
};

TEST(Simulation, KeepsWhatMustHold) {
  const Trace trace = small(1);
  NothingSoldTwice check;
  SimOptions options;
  options.look = std::ref(check);
  const auto result = simulate(trace, policy("reference"), options);
  ASSERT_TRUE(result) << result.error().text();
  const Sums& sums = result->sums;
  EXPECT_EQ(check.looks, 6 * 1440);
  EXPECT_GT(sums.finished, 0);
  EXPECT_GT(sums.sold, 0);
  EXPECT_LE(sums.batchUsed, sums.placed + 1e-6);
  EXPECT_LE(sums.used, sums.capacity);
  EXPECT_GE(sums.work(), 0);
  EXPECT_EQ(sums.unplaced, 0) << "services fit";
  EXPECT_EQ(result->hours.size(), 24u);
}

TEST(Simulation, FollowsFromTheSeedWhateverTheThreads) {
  const Trace trace = small(2, 20);
  for (const char* name : {"reference", "ours"}) {
    std::vector<SimResult> results;
    for (const int64_t threads : {1, 1, 3}) {
      auto result = simulate(trace, policy(name), {.seed = 5, .threads = threads});
      ASSERT_TRUE(result) << result.error().text();
      results.push_back(*result);
    }
    EXPECT_EQ(results[0], results[1]) << name;
    EXPECT_EQ(results[0], results[2]) << name;
    auto other = simulate(trace, policy(name), {.seed = 6, .threads = 1});
    EXPECT_NE(results[0], *other) << name;
  }
}

// One machine that is full: services that come first are never short, services among equals are.
TEST(Simulation, CarelessTasksTakeFromServices) {
  const auto trace = readTrace(R"(mangrove-trace 1
length 6h
nodes n count=1 cpu=16 memory=64Gi
curve day every=1h 0.1 0.1 0.9 1.2
service web replicas=3 cpu=4 memory=8Gi curve=day
job etl at=10m tasks=8 cpu=2 memory=2Gi work=10h
)",
                               "x");
  ASSERT_TRUE(trace) << trace.error().text();
  const auto careless = simulate(*trace, policy("careless"), {});
  const auto ours = simulate(*trace, policy("ours"), {});
  ASSERT_TRUE(careless && ours);
  EXPECT_GT(careless->sums.shortShare(), 0.2);
  EXPECT_EQ(ours->sums.shortShare(), 0);
  EXPECT_GT(careless->sums.batchUsed, ours->sums.batchUsed);
}

// Without surprises batch work is what was asked for, to the second.
TEST(Simulation, DoesTheWorkThatComes) {
  const auto trace = readTrace(R"(mangrove-trace 1
length 6h
nodes n count=1 cpu=32 memory=128Gi
curve flat 0.25
service web replicas=2 cpu=4 memory=8Gi curve=flat
job etl at=10m tasks=4 cpu=2 memory=2Gi work=30m
)",
                               "x");
  ASSERT_TRUE(trace) << trace.error().text();
  const auto result = simulate(*trace, policy("reference"), {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->sums.finished, 4);
  EXPECT_NEAR(result->sums.batchUsed, 4 * 2 * 1800, 1e-6);
  EXPECT_EQ(result->sums.lost, 0);
  EXPECT_EQ(result->sums.cpuShort, 0);
  EXPECT_NEAR(result->sums.serviceTime, 2 * 6 * 3600, 120);
  // 60 % of 32 less the larger of system and what is reserved (0.5) and the services' 2.
  const double last = result->hours.back().sold;
  EXPECT_NEAR(last, 0.6 * 32 - 0.5 - 2, 0.1);
}

TEST(Simulation, AnOutageCostsTasksTheirWorkAndServicesTheirPlace) {
  const auto trace = readTrace(R"(mangrove-trace 1
length 3h
nodes n count=2 cpu=16 memory=64Gi
curve flat 0.25
service web replicas=2 cpu=4 memory=8Gi curve=flat
job etl at=10m tasks=4 cpu=2 memory=2Gi work=2h
outage n-0 at=1h for=30m
outage n-1 at=90m for=30m
)",
                               "x");
  ASSERT_TRUE(trace) << trace.error().text();
  const auto result = simulate(*trace, policy("reference"), {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_GT(result->sums.lostWithNode, 0);
  EXPECT_GT(result->sums.lost, 0);
  EXPECT_EQ(result->sums.capacity, 16.0 * 3600 * (3 + 2)) << "a dead node offers nothing";
}

TEST(Simulation, MemoryThatRunsShortCostsBatchWorkFirst) {
  const auto trace = readTrace(R"(mangrove-trace 1
length 6h
nodes n count=1 cpu=16 memory=32Gi
curve rise every=1h 0.1 0.1 0.1 4 4 4
service web replicas=1 cpu=4 memory=10Gi curve=rise memoryUse=1
job etl at=10m tasks=6 cpu=1 memory=2Gi work=10h memoryUse=1
)",
                               "x");
  ASSERT_TRUE(trace) << trace.error().text();
  const auto result = simulate(*trace, policy("reference"), {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_GT(result->sums.evicted, 0) << "the agent acts before the kernel";
  EXPECT_EQ(result->sums.killed, 0);
  EXPECT_GT(result->sums.lost, 0);
}

TEST(Simulation, StepsThatAreLeftOutChangeNothing) {
  const Trace trace = small(3, 20);
  for (const char* name : {"reference", "ours"}) {
    const auto adaptive = simulate(trace, policy(name), {.seed = 3});
    const auto exact = simulate(trace, policy(name), {.seed = 3, .stepping = Stepping::kExact});
    ASSERT_TRUE(adaptive && exact);
    EXPECT_LT(adaptive->ticks * 3, exact->ticks) << name;
    EXPECT_NEAR(adaptive->sums.batchUsed / exact->sums.batchUsed, 1, 0.01) << name;
    EXPECT_NEAR(adaptive->sums.sold / exact->sums.sold, 1, 0.01) << name;
    EXPECT_NEAR(adaptive->sums.utilisation(), exact->sums.utilisation(), 0.003) << name;
    EXPECT_NEAR(adaptive->sums.shortShare(), exact->sums.shortShare(), 0.0005) << name;
  }
}

TEST(Compare, TellsTheSameTwice) {
  CompareOptions options;
  options.about = "shape commerce";
  options.policies = {policy("reference"), policy("oracle")};
  options.seeds = {1, 2};
  options.traceOf = [](uint64_t seed) { return small(seed, 4); };
  double last = 0;
  options.progress = [&](double share) {
    EXPECT_GE(share, last);
    last = share;
  };
  const auto first = compare(options);
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_DOUBLE_EQ(last, 1);
  last = 0;
  const auto second = compare(options);
  EXPECT_EQ(toJson(*first), toJson(*second));
  EXPECT_EQ(toTable(*first), toTable(*second));
  EXPECT_EQ(toHtml(*first), toHtml(*second));
  EXPECT_NE(toTable(*first).find("oracle"), std::string::npos);
}

TEST(Policy, RefusesWhatAdmissionRefuses) {
  for (std::string_view name : builtInPolicies()) EXPECT_TRUE(builtInPolicy(name)) << name;
  EXPECT_EQ(builtInPolicy("our").error().text(),
            "no policy 'our', did you mean 'ours'?; there are reference, max-usage-request, "
            "request-memory, ours, oracle, careless");
  EXPECT_EQ(readPolicy("kind: ConfigMap\n", "a.yaml").error().text(),
            "a.yaml: no 'data': want the ConfigMap slo-controller-config");
  const auto wrong = readPolicy(
      "kind: ConfigMap\ndata:\n  colocation-config: '{\"cpuReclaimThresholdPercent\":-5}'\n",
      "a.yaml");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().text().find("cpuReclaimThresholdPercent"), std::string::npos)
      << wrong.error().text();
}

}  // namespace
}  // namespace mangrove::sim
