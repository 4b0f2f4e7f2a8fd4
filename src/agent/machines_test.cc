// The whole observing agent over the machines of test/machines, with a virtual clock.
#include <gtest/gtest.h>

#include "agent/agent.h"
#include "agent/testing/moving.h"
#include "agent/testing/scene.h"

namespace mangrove::agent {
namespace {

using kernel::Feature;
using testing::Moving;

const std::string kMachines = MANGROVE_SOURCE_DIR "/test/machines/";

struct Expected {
  const char* name;
  bool v2;
  kernel::CgroupDriver driver;
  size_t cpus, cores, numa;
  std::vector<Feature> has, lacks;
  double nodeCpu;           // cores
  bool everything = false;  // all optional collectors on
};

// Prints as its name.
void PrintTo(const Expected& expected, std::ostream* out) {
  *out << expected.name;
}

class Machines : public ::testing::TestWithParam<Expected> {};

TEST_P(Machines, AreObservedCompletely) {
  const Expected& want = GetParam();
  Moving machine(kMachines + want.name);
  AgentOptions options;
  if (want.everything) {
    options.collect.pressure = options.collect.coldPages = options.collect.resctrl = true;
    options.collect.cpi = true;
  }
  testing::Scene scene(machine.path(), options);
  scene.put("Node", testing::nodeJson("n1", std::to_string(want.cpus), "20Gi"));
  scene.put("NodeMetric", testing::nodeMetricJson("n1"));
  for (int i = 1; i <= 3; ++i)
    scene.put("Pod", testing::podJson(fmt::format("pod{}", i),
                                      fmt::format("0a1b2c3d-0000-4000-8000-00000000000{}", i)));
  scene.start();
  const Machine& found = scene.agent().machine();
  EXPECT_EQ(found.trees().isV2(), want.v2);
  EXPECT_EQ(found.layout().driver(), want.driver);
  EXPECT_EQ(found.cpus().cpus.size(), want.cpus);
  EXPECT_EQ(found.cpus().coreCount(), want.cores);
  EXPECT_EQ(found.numaNodes().size(), want.numa);
  for (Feature f : want.has) EXPECT_TRUE(found.can().has(f)) << found.can().finding(f).name;
  for (Feature f : want.lacks) EXPECT_FALSE(found.can().has(f)) << found.can().finding(f).name;

  scene.ticks(20, [&](int) { machine.second(); });
  const Look& look = scene.look();
  EXPECT_NEAR(look.node.usage.cpu.value(), want.nodeCpu, 0.01);
  EXPECT_NEAR(look.node.system.cpu.value(), std::max(0.0, want.nodeCpu - 0.5), 0.01);
  ASSERT_EQ(look.pods.size(), 3u);
  for (const PodLook& pod : look.pods) {
    EXPECT_TRUE(pod.pod) << pod.id;
    EXPECT_NEAR(pod.usage.cpu.value(), 0.5, 0.01);
    EXPECT_EQ(pod.usage.memory, kMiB * 64);
    EXPECT_EQ(pod.usage.memoryWithCache, kMiB * 96);
    EXPECT_NEAR(pod.throttled.value(), want.v2 ? 0.1 : 0.0, 0.01);
    ASSERT_EQ(pod.containers.size(), 1u);
    EXPECT_NEAR(pod.containers[0].usage.cpu.value(), 0.5, 0.01);
    EXPECT_EQ(pod.pressure.cpu.has_value(), want.everything);
    EXPECT_EQ(pod.usage.memoryHot.has_value(), want.everything);
  }
  EXPECT_EQ(look.node.bestEffort.limit, MilliCpu{static_cast<int64_t>(want.cpus) * 1000});
  EXPECT_EQ(look.node.bestEffort.usage, MilliCpu{500});
  if (want.numa > 1) {
    double sum = 0;
    for (const NumaLook& numa : look.node.numa) sum += numa.usage.cpu.value();
    EXPECT_NEAR(sum, want.nodeCpu, 0.01);
    EXPECT_GT(look.node.numa[1].system.memory.value().v, 0);
  }
  ASSERT_EQ(look.node.io.disks.size(), 1u) << "neither memory nor parts of disks";
  EXPECT_NEAR(look.node.io.disks[0].readBytes, 1 << 20, 1);
  EXPECT_NEAR(look.node.io.disks[0].busy, 0.25, 0.01);
  ASSERT_EQ(look.node.io.interfaces.size(), 1u);
  EXPECT_NEAR(look.node.io.interfaces[0].receivedBytes, 1000, 1);
  if (want.everything) {
    ASSERT_EQ(look.resctrl.size(), 3u);
    EXPECT_EQ(look.resctrl[2].caches.at(0).llcBytes, 1048576u);
  }
  const auto troubles = scene.agent().collectorStats().troubles;
  EXPECT_EQ(troubles.unreadable + troubles.implausible + troubles.shrunk, 0u);
  ASSERT_FALSE(scene.patches.empty());
  EXPECT_EQ(scene.patches[0].at("status").at("podsMetric").as_array().size(), 3u);
  ASSERT_FALSE(scene.writes.empty()) << "the NodeResourceTopology";
  EXPECT_EQ(scene.writes[0].second.at("zones").as_array().size(), want.numa);
  for (const char* series :
       {"koordlet_node_used_cpu_cores{node=\"n1\"}", "mangrove_agent_tick_seconds_count",
        "mangrove_agent_self_rss_bytes", "koordlet_collect_node_cpu_info_status"})
    EXPECT_NE(scene.internal.exposition().find(series), std::string::npos) << series;
  const std::string external = scene.external.exposition();
  EXPECT_NE(external.find("mangrove_node_disk_bytes_per_second"), std::string::npos);
  EXPECT_NE(external.find("mangrove_node_network_bytes_per_second"), std::string::npos);
  EXPECT_NE(external.find("mangrove_node_pressure_percent"), std::string::npos);
  for (const char* series :
       {"koordlet_pod_psi", "koordlet_resctrl_llc_occupancy", "koordlet_resctrl_memory_bandwidth",
        "mangrove_pod_run_queue_seconds_per_second"})
    EXPECT_EQ(external.find(std::string(series) + "{") != std::string::npos, want.everything)
        << series;
}

// Pods with a group of their own in resctrl, control or monitoring, are counted one by one.
TEST(PodsInResctrl, AreCountedWhileTheyHaveAGroup) {
  Moving machine(kMachines + "anolis-v1-resctrl");
  const std::string uid = "0a1b2c3d-0000-4000-8000-00000000000";
  const std::string monitored = "sys/fs/resctrl/BE/mon_groups/" + uid + "3";
  machine.files().write(monitored + "/mon_data/mon_L3_00/llc_occupancy", "4096\n");
  machine.files().write("sys/fs/resctrl/koordlet-" + uid + "1/mon_data/mon_L3_00/mbm_total_bytes",
                        "77\n");
  AgentOptions options;
  options.collect.resctrl = true;
  options.collect.resctrlInterval = std::chrono::seconds(1);
  testing::Scene scene(machine.path(), options);
  scene.put("Node", testing::nodeJson("n1", "8", "20Gi"));
  for (int i = 1; i <= 3; ++i)
    scene.put("Pod", testing::podJson(fmt::format("pod{}", i), fmt::format("{}{}", uid, i)));
  scene.start();
  scene.ticks(12, [&](int) { machine.second(); });
  const auto has = [&](const std::string& series) {
    return scene.external.exposition().find(series) != std::string::npos;
  };
  EXPECT_EQ(scene.look().podResctrl.size(), 2u);
  const std::string cache = "mangrove_agent_pod_cache_bytes{node=\"n1\",pod_uid=\"" + uid +
                            "3\",pod_name=\"pod3\",pod_namespace=\"default\",cache_id=\"0\"} 4096";
  EXPECT_TRUE(has(cache)) << scene.external.exposition();
  EXPECT_TRUE(has("mangrove_agent_pod_memory_traffic_bytes{node=\"n1\",pod_uid=\"" + uid +
                  "1\",pod_name=\"pod1\""));
  machine.files().remove(monitored);
  scene.ticks(12, [&](int) { machine.second(); });
  EXPECT_FALSE(has(cache)) << "its group is gone";
  EXPECT_EQ(scene.look().podResctrl.size(), 1u);
}

// Dashboards select by the reference's labels; who wants the right ones says so.
TEST(ResourceUnits, AreTheReferencesUnlessAskedFor) {
  for (const bool right : {false, true}) {
    Moving machine(kMachines + "v1-2core-vm");
    AgentOptions options;
    options.rightUnits = right;
    testing::Scene scene(machine.path(), options);
    scene.put("Node", testing::nodeJson("n1", "2", "20Gi"));
    scene.put(
        "Pod",
        R"({"kind":"Pod","metadata":{"name":"job","namespace":"d","uid":"u","resourceVersion":"3"},)"
        R"("spec":{"nodeName":"n1","containers":[{"name":"c","resources":{"requests":{)"
        R"("kubernetes.io/batch-cpu":"500","kubernetes.io/batch-memory":"1Gi"},"limits":{)"
        R"("kubernetes.io/batch-cpu":"500"}}}]},"status":{"phase":"Running","containerStatuses":[)"
        R"({"name":"c","containerID":"containerd://x"}]}})");
    scene.start();
    scene.ticks(3, [&](int) { machine.second(); });
    const std::string all = scene.external.exposition();
    const auto has = [&](const std::string& part) { return all.find(part) != std::string::npos; };
    const std::string memory =
        "koordlet_container_resource_requests{node=\"n1\",resource="
        "\"kubernetes.io/batch-memory\",unit=\"";
    const std::string cpu =
        "koordlet_container_resource_limits{node=\"n1\",resource="
        "\"kubernetes.io/batch-cpu\",unit=\"";
    EXPECT_TRUE(has(memory + (right ? "byte" : "integer"))) << all;
    EXPECT_TRUE(has(cpu + (right ? "integer" : "byte"))) << all;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Machines,
    ::testing::Values(
        Expected{"v1-2core-vm",
                 false,
                 kernel::CgroupDriver::kCgroupfs,
                 2,
                 2,
                 1,
                 {Feature::kUnifiedBesideV1, Feature::kCgroupPressure, Feature::kCfsBurst},
                 {Feature::kCgroupV2, Feature::kNuma, Feature::kSmt, Feature::kResctrl},
                 0.5},
        Expected{"v2-2socket-smt",
                 true,
                 kernel::CgroupDriver::kSystemd,
                 16,
                 8,
                 2,
                 {Feature::kCgroupV2, Feature::kSmt, Feature::kNuma, Feature::kMemoryHigh,
                  Feature::kCacheAllocation},
                 {Feature::kGroupIdentity, Feature::kColdPages, Feature::kCoreScheduling},
                 4},
        Expected{"v2-4numa-offline",
                 true,
                 kernel::CgroupDriver::kSystemd,
                 30,
                 30,
                 4,
                 {Feature::kNuma},
                 {Feature::kResctrl},
                 7.5},
        Expected{"anolis-v1-resctrl",
                 false,
                 kernel::CgroupDriver::kSystemd,
                 8,
                 4,
                 1,
                 {Feature::kGroupIdentity, Feature::kMemoryWatermark, Feature::kColdPages,
                  Feature::kResctrlMonitor, Feature::kCgroupPressure, Feature::kRunQueueDelay},
                 {Feature::kCgroupV2, Feature::kMemoryReclaim},
                 2,
                 true}),
    [](const auto& one) {
      std::string name = one.param.name;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(MachineChanges, AnUnpluggedCpuIsNoticedAndNothingBreaks) {
  Moving machine(kMachines + "v2-2socket-smt");
  testing::Scene scene(machine.path());
  scene.start();
  scene.ticks(5, [&](int) { machine.second(); });
  machine.files().write("sys/devices/system/cpu/online", "0-14\n");
  machine.unplug(15);
  scene.ticks(70, [&](int) { machine.second(); });
  EXPECT_EQ(scene.agent().machine().cpus().cpus.size(), 15u);
  EXPECT_TRUE(scene.look().node.usage.cpu);
  EXPECT_TRUE(scene.look().node.numa[1].usage.cpu);
}

}  // namespace
}  // namespace mangrove::agent
