// Where each of the 117 cases worth testing of the behaviour specification is, and those that need more
// than one part of the agent. The table is read by the last test here: every number is in it, and every
// test it names exists.
//
//   1-6    SpecCases.SuppressBudget              61-63   SpecCases.StaticBurst
//   1-5    SpecCases.WhoCountsAsAService         62      SpecCases.BurstOfAPodIsTheSum
//   7-9    SpecCases.ReservedCpu                 64-69   SpecCases.QuotaBurst
//   10-12  SpecCases.SuppressBudget              68      SpecCases.QuotaBurstSwitchedOff
//   10     SpecCases.LessThanNothing             70-71   SpecCases.BurstOfPods
//   11     SpecCases.WhoCountsAsAService         72-75   SpecCases.SharePool
//   13-15  SpecCases.CpuCount                    76-80   SpecCases.Tokens
//   16-22  SpecCases.Picks                       81-84   SpecCases.MemoryHigh
//   23-28  SpecCases.WholeCpuset                 85-86   SpecCases.MemoryProtection
//   27     SpecCases.NonExclusiveSystemCpusStay  87      SpecCases.MemoryHigh
//   28     SpecCases.EveryCpuIsSomebodyElses     88      SpecCases.MemoryOfTheQosDirectories
//   29     SpecCases.StaticKubeletKeepsTheOuterGroups
//   30-31  SpecCases.RecoverSet                  89      SpecCases.MemoryProtection
//   32-38  SpecCases.Quota                       90      SpecCases.ProtectionShrinksFromTheBottom
//   39-45  SpecCases.CpuSatisfaction             91      MachineStrategies.PageCacheLimit
//   46     SpecCases.CpuUtilisation              92-95   SpecCases.CacheMasks
//   47-48  SpecCases.Allocatable                 96      SpecCases.Bandwidth
//   49     SpecCases.CpuSatisfactionThresholds   97-99   SpecCases.Conversions
//   50     SpecCases.SatisfactionOrder           100-103 SpecCases.BatchLimits
//   51-57  SpecCases.MemoryVictims               104     NriRules.ClassesGetWhatReconcileGivesThem
//   57     Strategies.MemoryEvictionTakesOnePodAndCoolsDown
//   58-60  SpecCases.MemoryEvictOrder            105-111 SpecCases.HookCpusets
//   112-113 SpecCases.GroupIdentity              114     SpecCases.MinFreeKbytes
//   115    SpecCases.ForeignWritesAreRepairedWithinATick
//   116    MachineStrategies.OomScoresAreRaisedOnly
//   117    MachineStrategies.CoreGroups
#include <fstream>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/gates.h"
#include "agent/qos/cpu_suppress/budget.h"
#include "agent/qos/cpu_suppress/inputs.h"
#include "agent/qos/cpu_suppress/pick.h"
#include "agent/qos/cpu_suppress/quota.h"
#include "agent/qos/testing/bench.h"
#include "agent/qos/testing/machine_bench.h"
#include "api/wire/decode.h"

namespace mangrove::agent {
namespace {

using testing::EnforceBench;
using testing::MachineBench;

std::string capturedMachine(const char* name) {
  return std::string(MANGROVE_SOURCE_DIR) + "/test/machines/" + name;
}

class NothingPresent final : public PresentValues {
 public:
  std::optional<FileValue> present(std::string_view, std::string_view) const override {
    return std::nullopt;
  }
};

// A node of 20 CPUs whose pods and host applications use so much.
struct Suppressed {
  struct Who {
    const char* qos;  // nullptr: nothing is known of it; "": no label
    const char* kube;
    double cores;
  };

  void pod(const Who& who) {
    PodLook look;
    look.usage.cpu = who.cores;
    if (who.qos != nullptr) look.pod = object(who);
    pods.push_back(look);
  }
  void app(const char* qos, const char* base, double cores) {
    auto spec = *api::decodeText<api::NodeSloSpec>(
        fmt::format(R"({{"hostApplications":[{{"name":"app","qos":"{}","cgroupPath":{{"base":"{}",)"
                    R"("parentDir":"d","relativePath":"app"}}}}]}})",
                    qos, base));
    slo.hostApplications = spec.hostApplications;
    HostAppLook look;
    look.name = "app";
    look.usage.cpu = cores;
    apps.push_back(look);
  }
  int64_t budget(double nodeUsed, int64_t threshold) {
    PodBook book;
    book.put(object({"LS", "Burstable", 0}));
    Look look;
    look.book = &book;
    look.slo = &slo;
    look.node.usage.cpu = nodeUsed;
    look.pods = pods;
    look.hostApps = apps;
    const auto node = *api::decodeText<api::Node>(
        R"({"metadata":{"name":"n"},"status":{"capacity":{"cpu":"20"},"allocatable":{"cpu":"20"}}})");
    api::ResourceThresholdStrategy strategy;
    strategy.cpuSuppressThresholdPercent = Percent{threshold};
    const NothingPresent present;
    const FeatureGates gates(agentGates());
    const auto in = suppressInputs({look, &node, nullptr, present, gates}, strategy);
    return in ? suppressBudget(*in).v : -1;
  }
  static PodPtr object(const Who& who) {
    const std::string label =
        *who.qos ? fmt::format(R"("koordinator.sh/qosClass":"{}")", who.qos) : "";
    return std::make_shared<const api::Pod>(*api::decodeText<api::Pod>(fmt::format(
        R"({{"metadata":{{"name":"p","uid":"u","labels":{{{}}}}},"spec":{{"containers":[]}},)"
        R"("status":{{"phase":"Running","qosClass":"{}"}}}})",
        label, who.kube)));
  }

  std::vector<PodLook> pods;
  std::vector<HostAppLook> apps;
  api::NodeSloSpec slo;
};

TEST(SpecCases, WhoCountsAsAService) {
  Suppressed unknown;
  unknown.pod({nullptr, "", 8});
  unknown.pod({"BE", "BestEffort", 4});
  EXPECT_EQ(unknown.budget(11, 70), 6000) << "case 1: a pod of which nothing is known";
  const auto withApp = [](const char* qos, const char* base) {
    Suppressed out;
    out.pod({"LS", "Burstable", 8});
    out.pod({"BE", "BestEffort", 2});
    if (*qos) out.app(qos, base, 1);
    return out.budget(12, 70);
  };
  EXPECT_EQ(withApp("", ""), 4000) << "case 2";
  EXPECT_EQ(withApp("LS", "CgroupRoot"), 4000) << "case 3";
  EXPECT_EQ(withApp("BE", "KubepodsBesteffort"), 5000) << "case 4";
  EXPECT_EQ(withApp("BE", "CgroupRoot"), 4000) << "case 5: it is not where it says";
  Suppressed unlabelled;
  unlabelled.pod({"", "BestEffort", 3});
  unlabelled.pod({"LS", "Burstable", 5});
  EXPECT_EQ(unlabelled.budget(9, 65), 7000) << "case 11: no label, no requests: best effort";
}

TEST(SpecCases, LessThanNothing) {
  Suppressed full;
  full.pod({"LS", "Burstable", 15});
  full.pod({"BE", "BestEffort", 1});
  EXPECT_EQ(full.budget(18, 65), -4000) << "case 10";
  EXPECT_EQ(suppressCount({-4000}, 20, 20), 2u) << "case 10";
  EXPECT_EQ(suppressQuota({-4000}, 20, kernel::CpuQuota::none()).us(), 2000) << "case 10";
}

TEST(SpecCases, EveryCpuIsSomebodyElses) {
  MachineBench bench(capturedMachine("v1-2core-vm"));
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressPolicy":"cpuset"})");
  bench.pod(
      {.name = "db",
       .tier = "guaranteed",
       .qos = "LSE",
       .annotations = R"({"scheduling.koordinator.sh/resource-status":"{\"cpuset\":\"0-1\"}"})"});
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.start();
  bench.seconds(3);
  EXPECT_EQ(bench.read("BE", "cpu.cfs_quota_us"), "100000") << "case 28: a core's worth of time";
}

TEST(SpecCases, BurstOfAPodIsTheSum) {
  EnforceBench bench;
  bench.slo(R"("cpuBurstStrategy":{"policy":"cpuBurstOnly","cpuBurstPercent":100})");
  bench.pod("web", "ls-1", "LS", "Burstable", "{}", R"({"limits":{"cpu":"2"}})");
  bench.write("cpu", bench.kLsContainer, "cpu.cfs_quota_us", "200000");
  bench.write("cpu", bench.kLsPod, "cpu.cfs_quota_us", "200000");
  bench.start();
  bench.seconds(2);
  EXPECT_EQ(bench.read("cpu", bench.kLsContainer, "cpu.cfs_burst_us"), "200000");
  EXPECT_EQ(bench.read("cpu", bench.kLsPod, "cpu.cfs_burst_us"), "200000") << "case 62";
}

TEST(SpecCases, QuotaBurstSwitchedOff) {
  EnforceBench bench;
  const auto slo = [&](const char* policy) {
    bench.slo(
        fmt::format(R"("cpuBurstStrategy":{{"policy":"{}","cfsQuotaBurstPercent":300}})", policy));
  };
  slo("cfsQuotaBurstOnly");
  bench.pod("web", "ls-1", "LS", "Burstable", "{}", R"({"limits":{"cpu":"2"}})");
  bench.write("cpu", bench.kLsContainer, "cpu.cfs_quota_us", "200000");
  bench.write("cpu", bench.kLsPod, "cpu.cfs_quota_us", "200000");
  bench.use(2, 2, 0);
  bench.throttle(0.5);
  bench.start();
  bench.seconds(5);
  EXPECT_GT(std::stoll(bench.read("cpu", bench.kLsContainer, "cpu.cfs_quota_us")), 200000);
  slo("cpuBurstOnly");
  bench.seconds(2);
  EXPECT_EQ(bench.read("cpu", bench.kLsContainer, "cpu.cfs_quota_us"), "200000") << "case 68";
  EXPECT_EQ(bench.read("cpu", bench.kLsPod, "cpu.cfs_quota_us"), "200000") << "case 68";
}

std::set<std::string> testsOfThisProgram() {
  std::set<std::string> out;
  const auto& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const auto* suite = all.GetTestSuite(i);
    for (int k = 0; k < suite->total_test_count(); ++k)
      out.insert(std::string(suite->name()) + "." + suite->GetTestInfo(k)->name());
  }
  return out;
}

TEST(SpecCases, TheTableIsWhole) {
  std::ifstream file(std::string(MANGROVE_SOURCE_DIR) + "/src/agent/qos/spec_cases_index_test.cc");
  const std::regex entry(R"((\d+)(?:-(\d+))? +(\w+\.\w+))");
  const auto tests = testsOfThisProgram();
  std::set<int> named;
  for (std::string line; std::getline(file, line) && line.starts_with("//");)
    for (std::sregex_iterator at(line.begin(), line.end(), entry), end; at != end; ++at) {
      const int first = std::stoi((*at)[1]);
      const int last = (*at)[2].matched ? std::stoi((*at)[2]) : first;
      for (int number = first; number <= last; ++number) named.insert(number);
      EXPECT_TRUE(tests.contains((*at)[3])) << (*at)[3] << " of case " << first << " is no test";
    }
  for (int number = 1; number <= 117; ++number)
    EXPECT_TRUE(named.contains(number)) << "case " << number << " has no test in the table";
}

}  // namespace
}  // namespace mangrove::agent
