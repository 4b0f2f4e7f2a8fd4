// The cases worth testing of the behaviour specification, by their numbers there: evictions,
// memory, caches, hooks.
#include <gtest/gtest.h>

#include "agent/hooks/batch_resource.h"
#include "agent/hooks/cpuset.h"
#include "agent/hooks/group_identity.h"
#include "agent/qos/evict/task.h"
#include "agent/qos/memory_qos/values.h"
#include "agent/qos/resctrl/schemata.h"
#include "agent/qos/system_config/files.h"
#include "api/wire/decode.h"
#include "api/wire/names.h"

namespace mangrove::agent {
namespace {

constexpr int64_t kG = 1'000'000'000;

api::Node nodeOf(const std::string& json) {
  return *api::decodeText<api::Node>(R"({"metadata":{"name":"n"},"status":)" + json + "}");
}

api::Pod podOf(const std::string& name, const std::string& priority, const std::string& extra = "",
               const std::string& spec = "") {
  return *api::decodeText<api::Pod>(fmt::format(
      R"({{"metadata":{{"name":"{}","uid":"{}"{}}},"spec":{{{}"containers":[{{"name":"c"{}}}]}},)"
      R"("status":{{"phase":"Running"}}}})",
      name, name, extra, priority.empty() ? "" : fmt::format(R"("priority":{},)", priority), spec));
}

std::string names(const std::vector<const EvictPod*>& pods) {
  std::string out;
  for (const EvictPod* one : pods) out += std::string(one->pod->meta.name.view());
  return out;
}

// ---- 14.4 ------------------------------------------------------------------------------------

struct SatisfactionRow {
  int number;
  BeSample avg, last;
  int64_t count;
  int64_t want;
  const char* policy = "";
  const char* sold = "0";
  std::optional<Percent> busy = {};
};

TEST(SpecCases, CpuSatisfaction) {
  const SatisfactionRow rows[] = {
      {39, {{9500}, {50000}, {10000}}, {{13000}, {50000}, {14000}}, 60, 6000},
      {40, {{12000}, {50000}, {13000}}, {{10000}, {50000}, {11000}}, 60, 7000},
      {41, {{9500}, {50000}, {10000}}, {{5000}, {50000}, {10000}}, 60, 0},
      {42, {{19500}, {40000}, {20000}}, {{19500}, {40000}, {20000}}, 60, 0},
      {43, {{9500}, {50000}, {10000}}, {{9500}, {50000}, {10000}}, 10, 0},
      {44,
       {{6000}, {50000}, {1}},
       {{4000}, {50000}, {1}},
       60,
       12000,
       "evictByAllocatable",
       "8000",
       Percent{50}},
      {45, {{6000}, {50000}, {1}}, {{4000}, {50000}, {1}}, 60, 19999, "evictByAllocatable", "0"},
  };
  for (const SatisfactionRow& row : rows) {
    api::ResourceThresholdStrategy slo;
    slo.cpuEvictBESatisfactionLowerPercent = Percent{30};
    slo.cpuEvictBESatisfactionUpperPercent = Percent{40};
    slo.cpuEvictTimeWindowSeconds = 60;
    slo.cpuEvictPolicy = row.policy;
    slo.cpuEvictBEUsageThresholdPercent = row.busy;
    const api::Node node =
        nodeOf(fmt::format(R"({{"allocatable":{{"kubernetes.io/batch-cpu":"{}"}}}})", row.sold));
    const EvictTask task = beCpuTask(
        {slo, node, {}, {}, 0}, BeHistory{row.count, row.avg, row.last}, std::chrono::seconds(1));
    auto found = task.release.find(api::resource::kBatchCpu);
    EXPECT_EQ(found == task.release.end() ? 0 : found->second, row.want) << "case " << row.number;
  }
}

TEST(SpecCases, CpuSatisfactionThresholds) {
  const auto isValid = [](int64_t lower, int64_t upper) {
    api::ResourceThresholdStrategy slo;
    slo.cpuEvictBESatisfactionLowerPercent = Percent{lower};
    slo.cpuEvictBESatisfactionUpperPercent = Percent{upper};
    return beCpuTask({slo, nodeOf("{}"), {}, {}, 0}, {}, std::chrono::seconds(1)).valid;
  };
  EXPECT_TRUE(isValid(30, 40));
  EXPECT_FALSE(isValid(61, 70)) << "case 49";
  EXPECT_FALSE(isValid(30, 100)) << "case 49";
  EXPECT_FALSE(isValid(40, 30)) << "case 49";
}

TEST(SpecCases, CpuUtilisation) {
  api::ResourceThresholdStrategy slo;
  slo.cpuEvictThresholdPercent = Percent{80};
  slo.evictEnabledPriorityThreshold = 5999;
  const api::Node node = nodeOf(R"({"capacity":{"cpu":"80"}})");
  EXPECT_EQ(cpuTask({slo, node, {}, {}, 70}).release.at("cpu"), 7200) << "case 46";
}

TEST(SpecCases, Allocatable) {
  api::ResourceThresholdStrategy slo;
  slo.cpuAllocatableEvictThresholdPercent = Percent{80};
  slo.cpuAllocatableEvictLowerPercent = Percent{70};
  slo.allocatableEvictPriorityThreshold = 7999;
  const auto asking = [](const char* name, const char* priority, const char* resource,
                         const char* amount) {
    return podOf(name, priority, "",
                 fmt::format(R"(,"resources":{{"requests":{{"{}":"{}"}}}})", resource, amount));
  };
  const api::Pod a = asking("a", "5500", "kubernetes.io/batch-cpu", "45000");
  const api::Pod b = asking("b", "5500", "kubernetes.io/batch-cpu", "40000");
  const api::Pod mid = asking("m", "7500", "kubernetes.io/mid-cpu", "3000");
  const EvictPod pods[] = {{&a, 1.0, {}, false}, {&b, 1.0, {}, false}};
  const api::Node node = nodeOf(R"({"allocatable":{"kubernetes.io/batch-cpu":"100000"}})");
  EXPECT_EQ(allocatableTask({slo, node, pods, {}, 0}, "cpu").release.at("kubernetes.io/batch-cpu"),
            15000)
      << "case 47";
  const EvictPod mids[] = {{&mid, 1.0, {}, false}};
  EXPECT_EQ(allocatableTask({slo, node, mids, {}, 0}, "cpu").release.at("kubernetes.io/mid-cpu"),
            3000)
      << "case 48";
}

// ---- 14.5 ------------------------------------------------------------------------------------

struct MemoryBench {
  explicit MemoryBench(const char* policyOfB = "") {
    const std::string be = R"("labels":{"koordinator.sh/qosClass":"BE"})";
    const std::string note = *policyOfB ? fmt::format(R"(,"annotations":{{"{}":"{}"}})",
                                                      api::annotation::kEvictionPolicy, policyOfB)
                                        : "";
    a = podOf("A", "100", "," + be);
    b = podOf("B", "100", "," + be + note);
    c = podOf("C", "120", "," + be);
    pods = {{&a, {}, Bytes{5 * kG}, false},
            {&b, {}, Bytes{20 * kG}, false},
            {&c, {}, Bytes{10 * kG}, false}};
  }
  std::string victims(int64_t threshold, std::optional<int64_t> lower = {}, int64_t used = 115) {
    api::ResourceThresholdStrategy slo;
    slo.memoryEvictThresholdPercent = Percent{threshold};
    if (lower) slo.memoryEvictLowerPercent = Percent{*lower};
    return names(pickVictims(beMemoryTask({slo, node, pods, Bytes{used * kG}, 0})));
  }
  api::Node node = nodeOf(R"({"capacity":{"memory":"120G"}})");
  api::Pod a, b, c;
  std::vector<EvictPod> pods;
};

TEST(SpecCases, MemoryVictims) {
  MemoryBench bench;
  EXPECT_EQ(bench.victims(82), "B") << "case 51";
  EXPECT_EQ(bench.victims(80), "BA") << "case 52";
  EXPECT_EQ(bench.victims(50), "BAC") << "case 53";
  EXPECT_EQ(bench.victims(82, 74), "BAC") << "case 54";
  EXPECT_EQ(bench.victims(80, {}, 80), "") << "case 55";
  EXPECT_EQ(MemoryBench(R"([\"BECPUEvict\"])").victims(82), "AC") << "case 56";
  bench.pods[1].leaving = true;
  EXPECT_EQ(bench.victims(82), "") << "case 57";
}

// ---- 14.7 ------------------------------------------------------------------------------------

TEST(SpecCases, MemoryHigh) {
  const Bytes page{4096};
  EXPECT_EQ(throttleAt({kGiB, kGiB * 2}, {}, {80}, page), 1932734464) << "case 81";
  EXPECT_EQ(throttleAt({kGiB, {}}, kGiB * 4, {50}, page), 2684354560) << "case 82";
  EXPECT_EQ(throttleAt({{}, kMiB * 512}, {}, {80}, page), 429494272) << "case 83";
  EXPECT_EQ(throttleAt({kGiB, kGiB * 2}, {}, {0}, page), kUnlimited) << "case 84";
  EXPECT_EQ(throttleAt({kGiB, kGiB}, {}, {80}, page), 1073741824) << "case 87";
}

// ---- 14.8 ------------------------------------------------------------------------------------

TEST(SpecCases, CacheMasks) {
  struct Row {
    const char* full;
    int64_t start, end;
    const char* want;
  };
  for (const Row& row :
       {Row{"3ff", 10, 80, "fe"}, Row{"7ff", 10, 50, "3c"}, Row{"3ff", 0, 30, "7"},
        Row{"3ff", 10, 85, "1fe"}, Row{"7ff", 0, 30, "f"}, Row{"7ff", 50, 100, "7c0"},
        Row{"fffff", 0, 30, "3f"}, Row{"7fff", 25, 75, "ff0"}, Row{"7ff", 1, 5, "2"}})
    EXPECT_EQ(cacheMask(row.full, row.start, row.end).value(), row.want) << "cases 92, 93, 95";
  EXPECT_FALSE(cacheMask("101", 0, 30)) << "case 94";
  EXPECT_FALSE(cacheMask("4", 0, 30)) << "case 94";
  EXPECT_FALSE(cacheMask("7ff", -10, 30)) << "case 94";
  EXPECT_FALSE(cacheMask("7ff", 30, 30)) << "case 94";
}

TEST(SpecCases, Bandwidth) {
  for (auto [percent, want] : {std::pair{85, "90"}, {100, "100"}, {1, "10"}})
    EXPECT_EQ(bandwidthValue("GenuineIntel", percent), want) << "case 96";
  for (auto [percent, want] : {std::pair{80, "128"}, {100, "2048"}, {1, "1"}})
    EXPECT_EQ(bandwidthValue("AuthenticAMD", percent), want) << "case 96";
  // As the machine says, where it does.
  EXPECT_EQ(bandwidthValue("GenuineIntel", 81, {5, 10}), "85");
  EXPECT_EQ(bandwidthValue("GenuineIntel", 3, {5, 10}), "10");
  EXPECT_EQ(bandwidthValue("0x48", 33, {1, 0}), "33") << "MPAM";
  EXPECT_EQ(bandwidthValue("0x48", 33), std::nullopt);
}

TEST(SpecCases, BatchLimits) {
  const auto spec = [](const char* json) {
    return *api::decodeText<api::ExtendedResourceSpec>(json);
  };
  const auto one =
      spec(R"({"containers":{"c":{"requests":{"kubernetes.io/batch-cpu":"500"},)"
           R"("limits":{"kubernetes.io/batch-cpu":"1000","kubernetes.io/batch-memory":"1Gi"}}}})");
  const BatchValues plain = batchValues(one, {});
  EXPECT_EQ(plain.pod.shares, 512) << "case 100";
  EXPECT_EQ(plain.pod.quota.us(), 100000) << "case 100";
  EXPECT_EQ(plain.pod.memory, 1073741824) << "case 100";
  EXPECT_EQ(batchValues(one, {true, 1.2}).pod.quota.us(), 83334) << "case 101";
  EXPECT_EQ(batchValues(one, {false, {}}).pod.quota, kernel::CpuQuota::none()) << "case 103";
  auto two = one;
  two.containers["d"];
  EXPECT_EQ(batchValues(two, {}).pod.quota, kernel::CpuQuota::none()) << "case 102";
  EXPECT_EQ(batchValues(two, {}).pod.memory, kUnlimited) << "case 102";
}

TEST(SpecCases, HookCpusets) {
  CpusetRule rule;
  rule.servicePools = {{0, 0, "1-7"}, {1, 1, "9-15"}};
  rule.batchPools = {{0, 0, "0-7"}, {1, 1, "8-15"}};
  const auto cpus = [&](api::Qos qos, api::KubeQos kube, const char* status) {
    api::Annotations annotations;
    if (*status) annotations.set(api::annotation::kResourceStatus, status);
    auto got = containerCpuset(rule, {qos, kube, &annotations});
    return !got ? "error" : !*got ? "untouched" : **got;
  };
  using api::KubeQos;
  using api::Qos;
  const char* numa = R"({"numaNodeResources":[{"node":0,"resources":{"cpu":"2"}}]})";
  const char* bare = R"({"numaNodeResources":[{"node":0}]})";
  const char* batch =
      R"({"numaNodeResources":[{"node":0,"resources":{"kubernetes.io/batch-cpu":"2"}}]})";
  EXPECT_EQ(cpus(Qos::kLs, KubeQos::kBurstable, ""), "1-7,9-15") << "case 105";
  EXPECT_EQ(cpus(Qos::kLs, KubeQos::kBurstable, numa), "1-7") << "case 106";
  EXPECT_EQ(cpus(Qos::kLs, KubeQos::kBurstable, bare), "1-7,9-15") << "case 107";
  EXPECT_EQ(cpus(Qos::kBe, KubeQos::kBestEffort, batch), "") << "case 109";
  EXPECT_EQ(cpus(Qos::kNone, KubeQos::kBurstable, ""), "1-7,9-15") << "case 110";
  EXPECT_EQ(cpus(Qos::kLs, KubeQos::kBurstable, "bad"), "error") << "case 111";
  rule.beCpuManager = true;
  EXPECT_EQ(cpus(Qos::kBe, KubeQos::kBestEffort, batch), "0-7") << "case 108";
  rule.kubeletIsStatic = true;
  EXPECT_EQ(cpus(Qos::kNone, KubeQos::kBurstable, ""), "untouched") << "case 110";
}

TEST(SpecCases, GroupIdentity) {
  IdentityRule rule{true, 2, 2, -1, true};
  EXPECT_EQ(tierIdentity(rule, api::KubeQos::kGuaranteed), 0) << "case 112";
  EXPECT_EQ(tierIdentity(rule, api::KubeQos::kBurstable), 2) << "case 112";
  EXPECT_EQ(tierIdentity(rule, api::KubeQos::kBestEffort), -1) << "case 112";
  const auto pod = [](const char* qos, const char* annotation) {
    return podOf("p", "",
                 fmt::format(R"(,"labels":{{"koordinator.sh/qosClass":"{}"}},)"
                             R"("annotations":{{"koordinator.sh/cpuQOS":"{}"}})",
                             qos, annotation));
  };
  const char* low = R"({\"enable\":true,\"groupIdentity\":-1})";
  EXPECT_EQ(podIdentity(rule, pod("LS", low)).value(), -1) << "case 113";
  EXPECT_EQ(podIdentity(rule, pod("LS", R"({\"enable\":false})")).value(), 0) << "case 113";
  EXPECT_EQ(podIdentity(rule, pod("BE", R"({\"enable\":true,\"groupIdentity\":2})")).value(), -1)
      << "case 113";
}

TEST(SpecCases, MinFreeKbytes) {
  const auto minFree = [](int64_t factor, Bytes memory) {
    api::SystemStrategy strategy;
    strategy.minFreeKbytesFactor = factor;
    const auto files = systemFiles(strategy, memory);
    auto found = files.find("proc/sys/vm/min_free_kbytes");
    return found == files.end() ? "rejected" : found->second;
  };
  EXPECT_EQ(minFree(100, kGiB * 512), "5368709") << "case 114";
  EXPECT_EQ(minFree(100, kGiB * 16), "167772") << "case 114";
  EXPECT_EQ(minFree(1, kGiB * 16), "rejected") << "case 114";
}

}  // namespace
}  // namespace mangrove::agent
