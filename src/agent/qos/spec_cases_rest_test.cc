// The cases worth testing of the behaviour specification, by their numbers there: those that need a
// whole machine, and the rest.
#include <gtest/gtest.h>

#include "agent/qos/cpu_burst/burst.h"
#include "agent/qos/cpu_burst/strategy.h"
#include "agent/qos/evict/pause.h"
#include "agent/qos/evict/strategy.h"
#include "agent/qos/evict/watermarks.h"
#include "agent/qos/memory_qos/values.h"
#include "agent/qos/testing/machine_bench.h"
#include "api/annotations/topology.h"
#include "api/wire/names.h"
#include "kernel/cpu_units.h"

namespace mangrove::agent {
namespace {

using testing::MachineBench;

std::string machineDir(const char* name) {
  return std::string(MANGROVE_SOURCE_DIR) + "/test/machines/" + name;
}

api::Pod podOf(const std::string& meta, const std::string& spec,
               const std::string& status = R"({"phase":"Running"})") {
  auto pod = api::decodeText<api::Pod>(
      fmt::format(R"({{"metadata":{{{}}},"spec":{},"status":{}}})", meta, spec, status));
  EXPECT_TRUE(pod);
  return *pod;
}

// ---- suppression -----------------------------------------------------------------------------

TEST(SpecCases, StaticKubeletKeepsTheOuterGroups) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressThresholdPercent":40})");
  bench.topology(R"({"kubelet.koordinator.sh/cpu-manager-policy":"{\"policy\":\"static\"}"})");
  bench.pod({.name = "web", .qos = "LS"});
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.start();
  bench.use("web", 2);
  bench.seconds(3);
  const CpuSet all = *CpuSet::parse(bench.read("kubepods.slice", "cpuset.cpus"));
  EXPECT_EQ(*CpuSet::parse(bench.read("BE", "cpuset.cpus")), all) << "case 29";
  EXPECT_EQ(*CpuSet::parse(bench.read("job", "cpuset.cpus")), all) << "case 29";
  EXPECT_LT(CpuSet::parse(bench.read("job/c", "cpuset.cpus"))->size(), all.size()) << "case 29";
}

TEST(SpecCases, NonExclusiveSystemCpusStay) {
  const api::Annotations said{
      {"node.koordinator.sh/system-qos-resource", R"({"cpuset":"1-6","cpusetExclusive":false})"}};
  EXPECT_FALSE((*api::parseSystemQosResource(said))->isExclusive()) << "case 27";
}

TEST(SpecCases, ForeignWritesAreRepairedWithinATick) {
  MachineBench bench(machineDir("v1-2core-vm"));
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressPolicy":"cfsQuota"})");
  bench.pod({.name = "web", .qos = "LS"});
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.start();
  bench.use("web", 1);
  bench.seconds(3);
  const std::string quota = bench.read("BE", "cpu.cfs_quota_us");
  bench.write("BE", "cpu.cfs_quota_us", "-1");
  bench.seconds(1);
  EXPECT_EQ(bench.read("BE", "cpu.cfs_quota_us"), quota) << "case 115";
}

// ---- eviction --------------------------------------------------------------------------------

std::string names(const std::vector<const EvictPod*>& pods) {
  std::string out;
  for (const EvictPod* pod : pods) out += (out.empty() ? "" : " ") + pod->pod->meta.name.str();
  return out;
}

TEST(SpecCases, SatisfactionOrder) {
  const auto be = [](const char* name, int priority) {
    return podOf(fmt::format(R"("name":"{}","labels":{{"koordinator.sh/qosClass":"BE"}})", name),
                 fmt::format(R"({{"priority":{},"containers":[{{"name":"c","resources":{{)"
                             R"("requests":{{"kubernetes.io/batch-cpu":"1000"}}}}}}]}})",
                             priority));
  };
  const api::Pod half = be("half", 100), most = be("most", 100), low = be("low", 50);
  const EvictPod pods[] = {
      {&half, 0.5, {}, false}, {&most, 0.9, {}, false}, {&low, 0.1, {}, false}};
  api::ResourceThresholdStrategy slo;
  slo.cpuEvictBESatisfactionLowerPercent = Percent{30};
  slo.cpuEvictBESatisfactionUpperPercent = Percent{40};
  const api::Node node;
  const BeHistory history{60, {{9500}, {50000}, {10000}}, {{9500}, {50000}, {10000}}};
  const EvictTask task = beCpuTask({slo, node, pods, {}, 0}, history, std::chrono::seconds(1));
  EXPECT_EQ(names(task.order), "low most half") << "case 50";
}

struct Willing {
  std::string name;
  int priority;
  std::string evictPriority;  // annotation; "": none
  std::string labelPriority;  // label; "": none
  double gib;
  std::string enabled = "true";
  std::string phase = "Running";
};

std::string memoryOrder(const std::vector<Willing>& all, int threshold, std::string* victims) {
  std::vector<api::Pod> objects;
  for (const Willing& one : all)
    objects.push_back(podOf(
        fmt::format(
            R"("name":"{}","labels":{{"koordinator.sh/eviction-enabled":"{}"{}}},"annotations":{{{}}})",
            one.name, one.enabled,
            one.labelPriority.empty()
                ? ""
                : fmt::format(R"(,"koordinator.sh/priority":"{}")", one.labelPriority),
            one.evictPriority.empty()
                ? ""
                : fmt::format(R"("koordinator.sh/eviction-priority":"{}")", one.evictPriority)),
        fmt::format(R"({{"priority":{},"containers":[]}})", one.priority),
        fmt::format(R"({{"phase":"{}"}})", one.phase)));
  std::vector<EvictPod> pods;
  for (size_t i = 0; i < all.size(); ++i)
    pods.push_back({&objects[i], {}, Bytes{static_cast<int64_t>(all[i].gib * 1e9)}, false});
  api::ResourceThresholdStrategy slo;
  slo.memoryEvictThresholdPercent = Percent{82};
  slo.evictEnabledPriorityThreshold = threshold;
  const auto node = api::decodeText<api::Node>(R"({"status":{"capacity":{"memory":"120G"}}})");
  const EvictTask task = memoryTask({slo, *node, pods, Bytes{115'000'000'000}, 0});
  if (victims) *victims = names(pickVictims(task));
  return names(task.order);
}

TEST(SpecCases, MemoryEvictOrder) {
  EXPECT_EQ(memoryOrder({{"top", 100, "100", "", 1},
                         {"wrong", 120, "x", "", 1},
                         {"plain", 100, "", "", 1},
                         {"first", 3000, "-1", "", 1}},
                        3000, nullptr),
            "first plain wrong top")
      << "case 58";
  EXPECT_EQ(memoryOrder({{"high", 3400, "", "", 1},
                         {"unwilling", 100, "", "", 1, "false"},
                         {"failed", 100, "", "", 1, "true", "Failed"},
                         {"l4", 120, "", "4000", 1},
                         {"l3", 120, "", "3000", 1},
                         {"l2", 120, "", "2000", 1},
                         {"small", 100, "", "", 10},
                         {"large", 100, "", "", 11}},
                        3000, nullptr),
            "large small l2 l3 l4")
      << "case 59";
  std::string victims;
  memoryOrder({{"a", 100, "", "", 1}, {"b", 110, "", "", 1}, {"c", 120, "", "", 20}}, 3000,
              &victims);
  EXPECT_EQ(victims, "a b c") << "case 60: need 18G, one gigabyte is not enough";
}

TEST(Eviction, TasksShareWhatIsReleased) {
  const api::Pod be = podOf(R"("name":"be","labels":{"koordinator.sh/qosClass":"BE"})",
                            R"({"priority":5000,"containers":[]})");
  const api::Pod mid = podOf(R"("name":"mid","labels":{"koordinator.sh/eviction-enabled":"true"})",
                             R"({"priority":7000,"containers":[]})");
  const std::vector<EvictPod> pods = {{&be, {}, Bytes{20'000'000'000}, false},
                                      {&mid, {}, Bytes{20'000'000'000}, false}};
  api::ResourceThresholdStrategy slo;
  slo.memoryEvictThresholdPercent = Percent{82};
  slo.evictEnabledPriorityThreshold = 7999;
  const auto node = api::decodeText<api::Node>(R"({"status":{"capacity":{"memory":"120G"}}})");
  const EvictInputs in{slo, *node, pods, Bytes{115'000'000'000}, 0};
  const std::vector<EvictTask> tasks = {beMemoryTask(in), memoryTask(in)};
  const auto victims = pickVictims(tasks);
  ASSERT_EQ(victims.size(), 1u) << "the second task is satisfied by the first one's victim";
  EXPECT_EQ(victims[0].pod->pod->meta.name.view(), "be");
}

TEST(Eviction, PauseDoublesWhileItRepeats) {
  EvictionPause pause;
  const MonoTime start{};
  using std::chrono::minutes;
  using std::chrono::seconds;
  EXPECT_FALSE(pause.isOn(start, true));
  pause.evicted(start);
  EXPECT_EQ(pause.length(), seconds(300));
  EXPECT_TRUE(pause.isOn(start + seconds(299), false));
  EXPECT_FALSE(pause.isOn(start + seconds(301), false));
  EXPECT_TRUE(pause.isOn(start + seconds(301), true)) << "until recovery";
  pause.evicted(start + minutes(10));
  EXPECT_EQ(pause.length(), seconds(600));
  pause.evicted(start + minutes(25));
  EXPECT_EQ(pause.length(), seconds(1200));
  pause.evicted(start + minutes(60));
  EXPECT_EQ(pause.length(), seconds(300)) << "an hour later it is new";
}

const char* const kShort =
    R"("resourceUsedThresholdWithBE":{"enable":true,"memoryEvictThresholdPercent":50})";

TEST(Eviction, WhatTheBudgetRefusedIsTriedAgainAtOnce) {
  MachineBench bench(machineDir("v1-2core-vm"));
  ASSERT_TRUE(bench.gate("BEMemoryEvict=true"));
  bench.slo(kShort);
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.start();
  bench.hold("job", int64_t{20} << 30);
  bench.refuse = true;
  bench.seconds(5);
  EXPECT_TRUE(bench.evicted.empty());
  bench.refuse = false;
  bench.seconds(1);
  EXPECT_EQ(bench.evicted.size(), 1u) << "not counted as leaving, no cool-down";
}

TEST(Eviction, ADryRunCoolsNothingDown) {
  MachineBench bench(machineDir("v1-2core-vm"));
  ASSERT_TRUE(bench.gate("BEMemoryEvict=true"));
  bench.options.dryStrategies = {"memory-evict"};
  bench.slo(kShort);
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.start();
  bench.hold("job", int64_t{20} << 30);
  bench.seconds(30);
  EXPECT_TRUE(bench.evicted.empty());
  size_t said = 0;
  for (const std::string& line : bench.writes())
    said += line.find("d/job eviction") != std::string::npos;
  EXPECT_EQ(said, 1u) << "once";
  EXPECT_EQ(json::write(bench.enforcer->explain()).find("cooling down"), std::string::npos);
}

// ---- watermarks ------------------------------------------------------------------------------

TEST(Watermarks, Configuration) {
  EXPECT_EQ(defaultWatermarks().size(), 4u);
  const auto marks =
      parseWatermarks(R"([{"metric":"load","watermark":4,"durationSeconds":10,"target":2.5}])");
  ASSERT_TRUE(marks);
  EXPECT_EQ((*marks)[0], (Watermark{"load", 4, 2.5, std::chrono::seconds(10)}));
  for (const char* wrong :
       {"{}", "[1]", R"([{"metric":"heat","watermark":1,"target":0}])",
        R"([{"metric":"disk","watermark":80,"target":90}])", R"([{"metric":"disk","target":90}])",
        R"([{"metric":"disk","watermark":90,"target":80,"durationSeconds":-1}])"})
    EXPECT_FALSE(parseWatermarks(wrong)) << wrong;
}

TEST(Watermarks, VictimsUntilTheTarget) {
  const auto made = [](const char* name, int priority, const char* start) {
    return podOf(fmt::format(R"("name":"{}")", name),
                 fmt::format(R"({{"priority":{},"containers":[]}})", priority),
                 fmt::format(R"({{"phase":"Running","startTime":"{}"}})", start));
  };
  const api::Pod low = made("low", 100, "2026-01-01T00:00:00Z");
  const api::Pod big = made("big", 200, "2026-01-01T00:00:00Z");
  const api::Pod young = made("young", 200, "2026-01-02T00:00:00Z");
  const api::Pod small = made("small", 200, "2026-01-01T00:00:00Z");
  const Watermark mark{"memory", 90, 85, {}};
  const auto take = [&](double value, std::optional<double> shareOfLow, bool lowLeaves) {
    const WatermarkPod pods[] = {
        {&small, 1, false}, {&big, 4, false}, {&young, 4, false}, {&low, shareOfLow, lowLeaves}};
    std::string out;
    for (const WatermarkPod* one : watermarkVictims(mark, value, pods))
      out += (out.empty() ? "" : " ") + one->pod->meta.name.str();
    return out;
  };
  EXPECT_EQ(take(91, 2, false), "low young") << "91 - 2 - 4 <= 85";
  EXPECT_EQ(take(95, 2, true), "young big") << "one is leaving already and counts";
  EXPECT_EQ(take(95, 0, false), "young big small") << "who frees nothing stays";
  EXPECT_EQ(take(95, {}, false), "low") << "nobody knows what it frees: one, and look again";
}

TEST(Watermarks, Sources) {
  EXPECT_EQ(loadOf("6.52 0.58 0.59 1/257 13\n"), 6.52);
  EXPECT_FALSE(loadOf("x"));
  const auto busy = busyOf(
      "   8       0 sda 1 2 3 4 5 6 7 8 9 1000 11\n   8       1 sda1 1 2 3 4 5 6 7 8 9 900 11\n"
      "   8      16 sdb 1 2 3 4 5 6 7 8 9 50 11\n");
  EXPECT_EQ(busy, (std::map<std::string, int64_t>{{"sda", 1000}, {"sdb", 50}}));
  WatermarkTimer timer;
  const Watermark mark{"load", 3, 2, std::chrono::seconds(60)};
  const MonoTime start{};
  EXPECT_FALSE(timer.over(mark, 4, start));
  EXPECT_FALSE(timer.over(mark, 4, start + std::chrono::seconds(59)));
  EXPECT_TRUE(timer.over(mark, 4, start + std::chrono::seconds(60)));
  EXPECT_FALSE(timer.over(mark, 2.9, start + std::chrono::seconds(61)));
  EXPECT_FALSE(timer.over(mark, 4, start + std::chrono::seconds(62))) << "from the beginning";
}

TEST(Watermarks, LoadEvictsAndCoolsDown) {
  MachineBench bench(machineDir("v1-2core-vm"));
  ASSERT_TRUE(bench.gate("WatermarkEvict=true"));
  bench.fs.write("proc/loadavg", "8.00 5.00 3.00 1/257 13\n");
  bench.slo("");
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.pod({.name = "other", .tier = "besteffort", .qos = "BE", .priority = 5600});
  bench.pod({.name = "web", .qos = "LS"});
  bench.start();
  bench.use("job", 1);
  bench.use("other", 0.5);
  bench.seconds(60);
  EXPECT_TRUE(bench.evicted.empty()) << "not yet a minute";
  bench.seconds(2);
  ASSERT_EQ(bench.evicted.size(), 2u) << "neither is enough for load 4 -> 2";
  EXPECT_EQ(bench.evicted[0].pod->meta.name.view(), "job");
  EXPECT_TRUE(bench.enforcer->inTrouble());
  bench.seconds(60);
  EXPECT_EQ(bench.evicted.size(), 2u) << "they are leaving";
  bench.fs.write("proc/loadavg", "1.00 5.00 3.00 1/257 13\n");
  bench.seconds(1);
  EXPECT_FALSE(bench.enforcer->inTrouble());
}

// ---- burst -----------------------------------------------------------------------------------

class FakePresent final : public PresentValues {
 public:
  std::optional<FileValue> present(std::string_view cgroup, std::string_view) const override {
    auto found = quotas.find(std::string(cgroup));
    if (found == quotas.end()) return std::nullopt;
    return FileValue::of(found->second);
  }
  std::map<std::string, int64_t> quotas;
};

// One tick of the burst strategy over a pod of two containers that are throttled.
std::map<std::string, int64_t> burstOnce(int64_t podQuota, bool both) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  bench.start();
  bench.seconds(2);
  const std::string second = both ? R"(,{"name":"b","resources":{"limits":{"cpu":"3"}}})" : "";
  auto pod = std::make_shared<api::Pod>(podOf(
      R"("name":"p","uid":"u","labels":{"koordinator.sh/qosClass":"LS"})",
      fmt::format(R"({{"containers":[{{"name":"a","resources":{{"limits":{{"cpu":"2"}}}}}}{}]}})",
                  second)));
  ContainerLook containers[2];
  containers[0].serial = 1, containers[0].name = "a", containers[0].cgroup = "p/a";
  containers[1].serial = 2, containers[1].name = "b", containers[1].cgroup = "p/b";
  for (ContainerLook& one : containers) one.throttled = 0.5, one.periods = {10, 5};
  PodLook look;
  look.pod = pod;
  look.cgroup = "p";
  look.containers = std::span(containers, both ? 2 : 1);
  const api::NodeSloSpec slo = *api::decodeText<api::NodeSloSpec>(
      R"({"cpuBurstStrategy":{"policy":"auto","cfsQuotaBurstPercent":300,)"
      R"("sharePoolThresholdPercent":50}})");
  Look tick = bench.scene->look();
  tick.pods = std::span(&look, 1);
  tick.slo = &slo;
  tick.node.usage.cpu = 1;
  FakePresent present;
  present.quotas = {{"p", podQuota}, {"p/a", 200000}, {"p/b", 300000}};
  CpuBurst burst;
  std::map<std::string, int64_t> out;
  for (const Wish& wish : burst.decide({tick, nullptr, nullptr, present, bench.gates}).values)
    if (wish.resource == "cpu.cfs_quota_us") out[wish.cgroup] = wish.part.value.number;
  return out;
}

TEST(SpecCases, BurstOfPods) {
  EXPECT_EQ(burstOnce(kUnlimited, false), (std::map<std::string, int64_t>{{"p/a", 240000}}))
      << "case 70: the pod keeps no limit";
  EXPECT_EQ(burstOnce(500000, true),
            (std::map<std::string, int64_t>{{"p/a", 240000}, {"p/b", 360000}, {"p", 600000}}))
      << "case 71";
}

// ---- memory ----------------------------------------------------------------------------------

using Values = std::map<std::string, int64_t>;

struct QosPod {
  const char* kube;
  const char* request;
  const char* annotation = "";
};

// "cgroup's last part / file" to value.
Values memoryValues(const std::string& strategy, const std::vector<QosPod>& pods) {
  const auto qos = *api::decodeText<api::ResourceQosStrategy>(strategy);
  const auto node = *api::decodeText<api::Node>(R"({"status":{"allocatable":{"memory":"4Gi"}}})");
  std::vector<api::Pod> objects;
  for (size_t i = 0; i < pods.size(); ++i)
    objects.push_back(podOf(
        fmt::format(R"("name":"p","uid":"u{}","annotations":{{{}}})", i, pods[i].annotation),
        fmt::format(R"({{"containers":[{{"name":"c","resources":{{"requests":{{"memory":"{0}"}},)"
                    R"("limits":{{"memory":"{0}"}}}}}}]}})",
                    pods[i].request),
        fmt::format(R"({{"phase":"Running","qosClass":"{}"}})", pods[i].kube)));
  MemoryQosInputs in{qos, node, {}, kernel::CgroupLayout(kernel::CgroupDriver::kCgroupfs)};
  for (const api::Pod& one : objects) in.pods.push_back(&one);
  const MemoryQosValues all = memoryQosValues(in);
  Values out;
  for (const auto* level : {&all.tiers, &all.pods})
    for (const MemorySetting& one : *level)
      out[one.cgroup.substr(one.cgroup.rfind('/') + 1) + " " + std::string(one.resource)] =
          one.value.number;
  return out;
}

std::string classOf(const char* name, const char* members) {
  return fmt::format(R"("{}":{{"memoryQOS":{{"enable":true,{}}}}})", name, members);
}

TEST(SpecCases, MemoryProtection) {
  const auto ls = [](const char* members) { return "{" + classOf("lsClass", members) + "}"; };
  Values all =
      memoryValues(ls(R"("minLimitPercent":100,"lowLimitPercent":100)"), {{"Burstable", "1Gi"}});
  EXPECT_EQ(all.at("podu0 memory.min"), 1073741824) << "case 81";
  EXPECT_EQ(all.at("podu0 memory.low"), 1073741824) << "case 81";
  all = memoryValues(ls(R"("minLimitPercent":50,"lowLimitPercent":20)"), {{"Burstable", "1Gi"}});
  EXPECT_EQ(all.at("podu0 memory.low"), 536870912) << "case 85";
  all = memoryValues(ls(R"("minLimitPercent":50,"lowLimitPercent":0)"), {{"Burstable", "1Gi"}});
  EXPECT_EQ(all.at("podu0 memory.low"), 0) << "case 86";
  all =
      memoryValues(ls(R"("minLimitPercent":50,"wmarkRatio":95)"),
                   {{"Burstable", "1Gi", R"("koordinator.sh/memoryQOS":"{\"policy\":\"none\"}")"}});
  EXPECT_EQ(all.at("podu0 memory.min"), 0) << "case 89";
  EXPECT_EQ(all.at("podu0 memory.wmark_ratio"), 0) << "case 89";
  EXPECT_EQ(all.at("podu0 memory.wmark_scale_factor"), 50) << "case 89";
  EXPECT_EQ(all.at("podu0 memory.wmark_min_adj"), 0) << "case 89";
}

TEST(SpecCases, MemoryOfTheQosDirectories) {
  const std::string strategy = "{" + classOf("lsrClass", R"("minLimitPercent":50)") + "," +
                               classOf("lsClass", R"("minLimitPercent":50)") + "," +
                               classOf("beClass", R"("minLimitPercent":0)") + "}";
  const Values all = memoryValues(
      strategy,
      {{"Burstable", "1Gi"}, {"Burstable", "2Gi"}, {"Guaranteed", "4Gi"}, {"BestEffort", "1Gi"}});
  EXPECT_EQ(all.at("burstable memory.min"), 1610612736) << "case 88";
  EXPECT_EQ(all.at("kubepods memory.min"), 3758096384) << "case 88";
  EXPECT_EQ(all.at("besteffort memory.min"), 0) << "case 88";
}

TEST(SpecCases, ProtectionShrinksFromTheBottom) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  ASSERT_TRUE(bench.gate("CgroupReconcile=true"));
  const auto slo = [](int percent) {
    return fmt::format(
        R"("resourceQOSStrategy":{{"lsClass":{{"memoryQOS":{{"enable":true,"minLimitPercent":{}}}}}}})",
        percent);
  };
  bench.slo(slo(100));
  bench.pod({.name = "web", .qos = "LS", .resources = R"({"requests":{"memory":"4Gi"}})"});
  bench.start();
  bench.seconds(2);
  bench.writes();
  bench.slo(slo(25));
  bench.seconds(1);
  std::string order;
  for (const std::string& line : bench.writes())
    if (line.find("memory.min") != std::string::npos)
      order += line.substr(line.find(' ') + 1, line.find(" memory") - line.find(' ') - 1) + " ";
  EXPECT_EQ(order, "web/c web LS kubepods.slice ") << "case 90";
}

// ---- conversions -----------------------------------------------------------------------------

TEST(SpecCases, Conversions) {
  using namespace kernel;
  const std::pair<int64_t, int64_t> weights[] = {{2, 1},     {1000, 39},    {1024, 39},
                                                 {2000, 77}, {50000, 1908}, {262144, 10000}};
  for (auto [shares, weight] : weights) EXPECT_EQ(*weightOfShares(shares), weight) << "case 97";
  EXPECT_EQ(*sharesOfWeight(1), 2) << "case 98";
  EXPECT_EQ(*sharesOfWeight(100), 2597) << "case 98";
  EXPECT_EQ(*sharesOfWeight(10000), 262144) << "case 98";
  EXPECT_FALSE(sharesOfWeight(0)) << "case 98";
  EXPECT_EQ(quotaOf(MilliCpu{5}).us(), 1000) << "case 99";
  EXPECT_EQ(quotaOf(MilliCpu{500}).us(), 50000) << "case 99";
  EXPECT_EQ(quotaOf(MilliCpu{0}), kernel::CpuQuota::none()) << "case 99";
  EXPECT_EQ(sharesOf(MilliCpu{1}), 2) << "case 99";
  EXPECT_EQ(sharesOf(MilliCpu{300000}), 262144) << "case 99";
}

}  // namespace
}  // namespace mangrove::agent
