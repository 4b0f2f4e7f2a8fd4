// The whole observing agent over the machines of test/machines, with a virtual clock.
#include <filesystem>

#include <gtest/gtest.h>

#include "agent/agent.h"
#include "agent/testing/scene.h"
#include "base/files.h"
#include "base/strings.h"
#include "kernel/fake_root.h"

namespace mangrove::agent {
namespace {

namespace fs = std::filesystem;
using kernel::Feature;

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

// A copy whose counters move: half a core for every cgroup's CPU time, and a quarter of each CPU.
class Moving {
 public:
  explicit Moving(const std::string& name) {
    fs::copy(fs::path(MANGROVE_SOURCE_DIR) / "test/machines" / name, root_.path(),
             fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(root_.path())) {
      const std::string file = entry.path().filename();
      if (file == "cpuacct.usage" || (file == "cpu.stat" && isV2(entry.path())))
        counters_.push_back(entry.path());
    }
    stat_ = *readFile(root_.path() / "proc/stat");
  }
  const fs::path& path() const { return root_.path(); }
  kernel::FakeRoot& files() { return root_; }

  void second() {
    ++seconds_;
    for (const fs::path& path : counters_) {
      if (!fs::exists(path)) continue;
      const bool ns = path.filename() == "cpuacct.usage";
      write(path,
            ns ? fmt::format("{}\n", 5000000000 + seconds_ * 500000000)
               : fmt::format("usage_usec {}\nnr_periods {}\nnr_throttled {}\nthrottled_usec 5\n",
                             5000000 + seconds_ * 500000, 100 + seconds_ * 10, 10 + seconds_));
    }
    write(root_.path() / "proc/stat", ticks());
  }

 private:
  static bool isV2(const fs::path& file) {
    auto text = readFile(file);
    return text && text->starts_with("usage_usec");
  }
  // In place: the agent keeps files open.
  void write(const fs::path& path, const std::string& text) {
    root_.write(fs::relative(path, root_.path()), text);
  }
  // 25 ticks a second more on every CPU.
  std::string ticks() const {
    std::string out;
    int64_t cpus = 0;
    for (std::string_view line : split(stat_, '\n'))
      if (line.starts_with("cpu") && !line.starts_with("cpu ")) ++cpus;
    for (std::string_view line : split(stat_, '\n')) {
      if (!line.starts_with("cpu")) continue;
      const bool all = line.starts_with("cpu ");
      const std::string_view name = line.substr(0, line.find(' '));
      out += fmt::format("{} {} 0 0 99 0 0 0 0 0 0\n", name, (all ? cpus : 1) * seconds_ * 25);
    }
    return out;
  }

  kernel::FakeRoot root_;
  std::vector<fs::path> counters_;
  std::string stat_;
  int64_t seconds_ = 0;
};

class Machines : public ::testing::TestWithParam<Expected> {};

TEST_P(Machines, AreObservedCompletely) {
  const Expected& want = GetParam();
  Moving machine(want.name);
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
  EXPECT_NE(scene.internal.exposition().find("koordlet_node_used_cpu_cores{node=\"n1\"}"),
            std::string::npos);
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
  Moving machine("v2-2socket-smt");
  testing::Scene scene(machine.path());
  scene.start();
  scene.ticks(5, [&](int) { machine.second(); });
  machine.files().write("sys/devices/system/cpu/online", "0-14\n");
  scene.ticks(70, [&](int) { machine.second(); });
  EXPECT_EQ(scene.agent().machine().cpus().cpus.size(), 15u);
  EXPECT_TRUE(scene.look().node.usage.cpu);
  EXPECT_TRUE(scene.look().node.numa[1].usage.cpu);
}

}  // namespace
}  // namespace mangrove::agent
