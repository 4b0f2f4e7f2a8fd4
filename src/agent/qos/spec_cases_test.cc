// The cases worth testing of the behaviour specification, by their numbers there: CPU.
#include <gtest/gtest.h>

#include "agent/qos/cpu_burst/burst.h"
#include "agent/qos/cpu_burst/limiter.h"
#include "agent/qos/cpu_suppress/budget.h"
#include "agent/qos/cpu_suppress/pick.h"
#include "agent/qos/cpu_suppress/quota.h"
#include "api/wire/decode.h"

namespace mangrove::agent {
namespace {

// ---- 14.1 ------------------------------------------------------------------------------------

struct BudgetRow {
  int number;
  double cap, node, services, batch, appService, appBatch;
  double reserved;  // cores
  int64_t threshold;
  std::optional<int64_t> least;
  int64_t want;
};

TEST(SpecCases, SuppressBudget) {
  const BudgetRow rows[] = {
      {1, 20, 11, 8, 4, 0, 0, 0, 70, {}, 6000},    {2, 20, 12, 8, 2, 0, 0, 0, 70, {}, 4000},
      {3, 20, 12, 8, 2, 1, 0, 0, 70, {}, 4000},    {4, 20, 12, 8, 2, 0, 1, 0, 70, {}, 5000},
      {5, 20, 12, 8, 2, 1, 0, 0, 70, {}, 4000},    {6, 20, 12, 8, 2, 0, 0, 0, 70, 60, 12000},
      {7, 20, 12, 8, 2, 0, 0, 4, 70, {}, 2000},    {8, 20, 12, 8, 2, 0, 0, 5, 70, {}, 1000},
      {10, 20, 18, 15, 1, 0, 0, 0, 65, {}, -4000}, {11, 20, 9, 5, 3, 0, 0, 0, 65, {}, 7000},
      {12, 0, 0, 0, 0, 0, 0, 0, 65, {}, 0},
  };
  for (const BudgetRow& row : rows) {
    SuppressInputs in;
    in.capacity = {static_cast<int64_t>(row.cap * 1000)};
    in.reserved = {static_cast<int64_t>(row.reserved * 1000)};
    in.nodeUsed = row.node;
    in.podsUsed = row.services + row.batch;
    in.servicePodsUsed = row.services;
    in.appsUsed = row.appService + row.appBatch;
    in.serviceAppsUsed = row.appService;
    in.thresholdPercent = row.threshold;
    in.minPercent = row.least;
    EXPECT_EQ(suppressBudget(in).v, row.want) << "case " << row.number;
  }
}

TEST(SpecCases, ReservedCpu) {
  const auto reserved = [](const char* allocatable, const char* annotations) {
    auto node = api::decodeText<api::Node>(
        fmt::format(R"({{"metadata":{{"name":"n","annotations":{}}},"status":{{)"
                    R"("capacity":{{"cpu":"20"}},"allocatable":{{"cpu":"{}"}}}}}})",
                    annotations, allocatable));
    return reservedCpu(*node).v;
  };
  EXPECT_EQ(reserved("16", "{}"), 4000) << "case 7";
  EXPECT_EQ(reserved("20", R"({"node.koordinator.sh/reservation":"{\"reservedCPUs\":\"0-4\"}"})"),
            5000)
      << "case 8";
  EXPECT_EQ(reserved("20", R"({"node.koordinator.sh/reservation":)"
                           R"("{\"reservedCPUs\":\"0-4\",\"resources\":{\"cpu\":\"1\"}}"})"),
            5000)
      << "case 9";
}

// ---- 14.2 ------------------------------------------------------------------------------------

Cpus machine(const char* name) {
  Cpus out;
  const bool isA = name[1] == 'A', isB = name[1] == 'B', isC = name[1] == 'C';
  for (int i = 0; i < (isA || isB ? 8 : 16); ++i) {
    kernel::LogicalCpu cpu;
    cpu.id = i;
    cpu.core = isA ? i % 4 : isB || isC ? i / 2 : i;
    cpu.socket = isA ? i % 4 / 2 : isB ? i / 4 : isC ? i / 4 : i / 8;
    cpu.node = isA ? i % 4 / 2 : isB ? i / 4 : i / 8;
    out.push_back(cpu);
  }
  return out;
}

TEST(SpecCases, CpuCount) {
  EXPECT_EQ(suppressCount({12000}, 3, 16), 5u) << "case 13";
  EXPECT_EQ(suppressCount({100}, 10, 16), 2u) << "case 14";
  EXPECT_EQ(suppressCount({4001}, 5, 16), 5u) << "case 15";
}

TEST(SpecCases, Picks) {
  struct Row {
    int number;
    const char* machine;
    size_t count;
    std::vector<int> want;
  };
  for (const Row& row :
       {Row{16, "TA", 3, {0, 4, 2}}, Row{17, "TB", 3, {0, 1, 4}}, Row{18, "TA", 4, {0, 4, 2, 6}},
        Row{19, "TB", 6, {0, 1, 4, 5, 2, 3}}, Row{20, "TC", 5, {0, 1, 4, 5, 8}},
        Row{21, "TD", 5, {0, 8, 1, 9, 2}}, Row{22, "TB", 9, {}}})
    EXPECT_EQ(pickCpus(machine(row.machine), row.count), row.want) << "case " << row.number;
}

TEST(SpecCases, WholeCpuset) {
  const auto decide = [](const char* reserved) {
    SuppressCpus in;
    in.machine = machine("TB");
    in.present = {7, 6, 3, 2};
    in.bound = {{api::Qos::kLsr, {0, 6}}, {api::Qos::kLse, {7}}};
    in.reserved = *CpuSet::parse(reserved);
    in.budget = {3000};
    return suppressCpus(in).text();
  };
  EXPECT_EQ(decide(""), "2-4") << "cases 23, 27";
  EXPECT_EQ(decide("3"), "0,4-5") << "case 24";
  EXPECT_EQ(decide("1-6"), "0") << "case 25";
  EXPECT_EQ(decide("0-1,5-6"), "2-4") << "case 26";
  SuppressCpus taken;
  taken.machine = machine("TB");
  taken.bound = {{api::Qos::kLse, CpuSet::range(0, 7)}};
  taken.budget = {2000};
  EXPECT_TRUE(suppressCpus(taken).empty()) << "case 28";
}

TEST(SpecCases, RecoverSet) {
  SuppressCpus in;
  in.machine = machine("TD");
  in.bound = {{api::Qos::kLse, {7}}};
  EXPECT_EQ(recoverCpus(in).text(), "0-6,8-15") << "case 30";
  in.reserved = {0, 1};
  EXPECT_EQ(recoverCpus(in).text(), "2-6,8-15") << "case 31";
}

// ---- 14.3 ------------------------------------------------------------------------------------

TEST(SpecCases, Quota) {
  struct Row {
    int number;
    int64_t milli, present, want;
  };
  for (const Row& row :
       {Row{32, 20000, 1000000, 1800000}, Row{33, 20000, 1900000, 2000000},
        Row{34, 20000, 2400000, 2000000}, Row{35, 20000, 1980000, 1980000}, Row{36, 1, 80000, 2000},
        Row{37, 20000, -1, 2000000}, Row{38, 500, -1, 50000}})
    EXPECT_EQ(suppressQuota({row.milli}, 80, kernel::CpuQuota::ofUs(row.present)).us(), row.want)
        << "case " << row.number;
}

// ---- 14.6 ------------------------------------------------------------------------------------

api::CpuBurstConfig burst(const char* policy, int64_t percent) {
  api::CpuBurstConfig config;
  config.policy = policy;
  config.cpuBurstPercent = Percent{percent};
  return config;
}

TEST(SpecCases, StaticBurst) {
  EXPECT_EQ(staticBurst({2000}, burst("auto", 1000)), 2000000) << "case 61";
  EXPECT_EQ(staticBurst({0}, burst("auto", 1000)), 0) << "case 62";
  EXPECT_EQ(staticBurst({2000}, burst("cfsQuotaBurstOnly", 1000)), 0) << "case 63";
}

TEST(SpecCases, QuotaBurst) {
  BurstRound up{PoolState::kIdle, true, true, 0.5, 300};
  int64_t quota = 200000;
  for (int64_t want : {240000, 288000, 345600, 414720, 497664, 597196, 600000})
    EXPECT_EQ(quota = nextQuota(quota, {2000}, up), want) << "case 64";
  BurstRound over = up;
  over.node = PoolState::kOverload;
  for (int64_t want : {480000, 384000, 307200, 245760, 200000})
    EXPECT_EQ(quota = nextQuota(quota, {2000}, over), want) << "case 65";
  for (PoolState state : {PoolState::kCooling, PoolState::kUnknown}) {
    BurstRound round = up;
    round.node = state;
    EXPECT_EQ(nextQuota(400000, {2000}, round), 400000) << "case 66";
  }
  BurstRound calm = up;
  calm.throttled = 0;
  EXPECT_EQ(nextQuota(400000, {2000}, calm), 400000) << "case 67";
  EXPECT_EQ(decayedQuota(400000, {2000}, std::chrono::seconds(11)), 360000) << "16.3";
  BurstRound off = up;
  off.scales = false;
  EXPECT_EQ(nextQuota(400000, {2000}, off), 200000) << "case 68";
  BurstRound low = up;
  low.burstPercent = 90;
  EXPECT_EQ(nextQuota(200000, {2000}, low), 200000) << "case 69";
}

TEST(SpecCases, SharePool) {
  auto lsr = api::decodeText<api::Pod>(
      R"({"metadata":{"name":"p","labels":{"koordinator.sh/qosClass":"LSR"}},)"
      R"("spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"8"}}}]}})");
  auto all = api::decodeText<api::Pod>(
      R"({"metadata":{"name":"p","labels":{"koordinator.sh/qosClass":"LSR"}},)"
      R"("spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"16"}}}]}})");
  const auto state = [&](const api::Pod& pod, double used) {
    const PoolPod one{&pod, used};
    return sharePoolState(16, {&one, 1}, 10, 50);
  };
  EXPECT_EQ(state(*lsr, 7), PoolState::kIdle) << "case 72";
  EXPECT_EQ(state(*lsr, 6.25), PoolState::kCooling) << "case 73";
  EXPECT_EQ(state(*lsr, 5), PoolState::kOverload) << "case 74";
  EXPECT_EQ(state(*all, 1), PoolState::kOverload) << "case 75";
}

TEST(SpecCases, Tokens) {
  struct Row {
    int number;
    int64_t period, tokens, usage, want;
    bool allowed;
  };
  for (const Row& row : {Row{76, 100, 5000, 150, 4500, true}, Row{77, 100, 50, 200, -950, false},
                         Row{78, 10, 5, 200, -500, false}, Row{79, 100, 4500, 40, 5000, true},
                         Row{80, 100, 4500, 80, 4500, true}}) {
    TokenLimiter limiter(row.period, 150, row.tokens);
    EXPECT_EQ(limiter.use(std::chrono::seconds(10), row.usage), row.allowed)
        << "case " << row.number;
    EXPECT_EQ(limiter.tokens(), row.want) << "case " << row.number;
  }
}

}  // namespace
}  // namespace mangrove::agent
