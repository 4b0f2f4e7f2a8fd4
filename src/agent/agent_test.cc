// The whole observing agent over small machines made of files.
#include "agent/agent.h"

#include <gtest/gtest.h>

#include "agent/testing/scene.h"
#include "base/number/rng.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using kernel::dir;
using kernel::FakeRoot;
using kernel::file;
using testing::Scene;

const std::string kUid = "7712555c-ce62-454a-9e18-9ff0217b8941";
const std::string kPods = "sys/fs/cgroup/kubepods.slice";
const std::string kPod =
    kPods +
    "/kubepods-burstable.slice/kubepods-burstable-pod7712555c_ce62_454a_9e18_9ff0217b8941.slice";

std::string cpuStat(double seconds, int64_t periods = 0, int64_t throttled = 0) {
  return fmt::format("usage_usec {}\nnr_periods {}\nnr_throttled {}\nthrottled_usec 0\n",
                     static_cast<int64_t>(seconds * 1e6), periods, throttled);
}

std::string memoryStat(int64_t anon, int64_t file) {
  return fmt::format(
      "anon {}\nfile {}\ninactive_anon {}\nactive_anon 0\ninactive_file {}\nactive_file 0\n"
      "unevictable 0\n",
      anon, file, anon, file);
}

// A v2 machine with 4 CPUs; `second` is how long it has been running.
struct Small {
  Small() {
    fs.write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory\n");
    fs.write("sys/devices/system/cpu/online", "0-3\n");
    fs.write("sys/devices/system/cpu/possible", "0-3\n");
    fs.write("proc/sys/kernel/random/boot_id", "boot-1\n");
    fs.add(dir("sys/bus/node/devices/node0"));
    for (int i = 0; i < 4; ++i) {
      fs.write(fmt::format("sys/devices/system/cpu/cpu{}/topology/core_id", i),
               fmt::format("{}\n", i));
      fs.write(fmt::format("sys/devices/system/cpu/cpu{}/topology/physical_package_id", i), "0\n");
    }
    for (const char* tier : {"", "/kubepods-burstable.slice", "/kubepods-besteffort.slice"})
      fs.add(dir(kPods + tier));
    at(0);
  }
  // The node uses 2 cores, all pods 1.5, the one pod 1.5 of which its container 1.0.
  void at(double second) {
    fs.write("proc/stat", fmt::format("cpu  {} 0 0 1 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0\n",
                                      static_cast<int64_t>(second * 200)));
    fs.write("proc/meminfo",
             "MemTotal: 8388608 kB\nMemFree: 2097152 kB\nMemAvailable: 4194304 kB\n");
    fs.write(kPods + "/cpu.stat", cpuStat(second * 1.5));
    fs.write(kPods + "/memory.stat", memoryStat(1 << 30, 1 << 20));
    if (!hasPod) return;
    fs.write(kPod + "/cpu.stat", cpuStat(second * 1.5, int64_t(second * 10), int64_t(second * 5)));
    fs.write(kPod + "/memory.stat", memoryStat(1 << 30, 1 << 20));
    fs.write(kPod + "/cri-containerd-abc.scope/cpu.stat", cpuStat(second));
    fs.write(kPod + "/cri-containerd-abc.scope/memory.stat", memoryStat(1 << 29, 1 << 10));
  }
  void addPod(double second) {
    hasPod = true;
    at(second);
  }
  void removePod() {
    hasPod = false;
    fs.remove(kPod);
  }
  FakeRoot fs;
  bool hasPod = false;
};

double cpuOf(const json::Value& usage) {
  auto q = Quantity::parse(std::string_view(usage.at("resources").at("cpu").as_string()));
  return static_cast<double>(q->milliValue()) / 1000;
}

TEST(Agent, LooksAtPodsAndContainersFromTheirCgroups) {
  Small machine;
  machine.addPod(0);
  Scene scene(machine.fs.path());
  scene.put("Pod", testing::podJson(
                       "web", kUid,
                       R"(,"containerStatuses":[{"name":"c","containerID":"containerd://abc"}])"));
  scene.start();
  scene.ticks(3, [&](int i) { machine.at(i + 1); });
  const Look& look = scene.look();
  ASSERT_EQ(look.pods.size(), 1u);
  EXPECT_NEAR(look.node.usage.cpu.value(), 2, 1e-9);
  EXPECT_EQ(look.node.usage.memory, kGiB * 4);
  EXPECT_NEAR(look.node.system.cpu.value(), 0.5, 1e-9);
  EXPECT_EQ(look.node.system.memory, kGiB * 3);
  const PodLook& pod = look.pods[0];
  EXPECT_EQ(pod.pod->meta.name, "web");
  EXPECT_EQ(pod.qos, api::Qos::kLs);
  EXPECT_NEAR(pod.usage.cpu.value(), 1.5, 1e-9);
  EXPECT_NEAR(pod.throttled.value(), 0.5, 1e-9);
  EXPECT_EQ(pod.usage.memoryWithCache, kGiB + kMiB);
  ASSERT_EQ(pod.containers.size(), 1u);
  EXPECT_EQ(pod.containers[0].name, "c");
  EXPECT_NEAR(pod.containers[0].usage.cpu.value(), 1, 1e-9);
}

TEST(Agent, FirstTickPrimesOnly) {
  Small machine;
  Scene scene(machine.fs.path());
  scene.start();
  scene.seconds(1);
  EXPECT_FALSE(scene.look().node.usage.cpu);
  EXPECT_FALSE(scene.look().node.usage.memory);
}

TEST(Agent, NewContainersShowUpAtTheNextTick) {
  Small machine;
  Scene scene(machine.fs.path());
  scene.start();
  scene.ticks(3, [&](int i) { machine.at(i + 1); });
  EXPECT_TRUE(scene.look().pods.empty());
  machine.addPod(4);
  scene.ticks(1);
  ASSERT_EQ(scene.look().pods.size(), 1u);
  EXPECT_EQ(scene.look().pods[0].containers.size(), 1u);
  EXPECT_FALSE(scene.look().pods[0].pod) << "the API has not told yet";
  scene.ticks(1, [&](int) { machine.at(5); });
  EXPECT_NEAR(scene.look().pods[0].usage.cpu.value(), 1.5, 1e-9);
  const size_t open = scene.agent().collectorStats().openFiles;
  machine.removePod();
  scene.ticks(1);
  EXPECT_TRUE(scene.look().pods.empty());
  EXPECT_EQ(scene.agent().history().pods().tracks(), 0u);
  EXPECT_LT(scene.agent().collectorStats().openFiles, open);
}

TEST(Agent, ReportsTheNodeMetric) {
  Small machine;
  machine.addPod(0);
  Scene scene(machine.fs.path());
  scene.put("Node", testing::nodeJson("n1", "4", "8Gi"));
  scene.put("NodeMetric", testing::nodeMetricJson("n1"));
  scene.put("Pod", testing::podJson("web", kUid));
  scene.start();
  scene.ticks(12, [&](int i) { machine.at(i + 1); });
  ASSERT_EQ(scene.patches.size(), 1u);
  const json::Value& status = scene.patches[0].at("status");
  EXPECT_NEAR(cpuOf(status.at("nodeMetric").at("nodeUsage")), 2, 0.01);
  EXPECT_NEAR(cpuOf(status.at("nodeMetric").at("systemUsage")), 0.5, 0.01);
  const json::Value& fiveMinutes = status.at("nodeMetric").at("aggregatedNodeUsages").at(0);
  EXPECT_EQ(fiveMinutes.at("duration").as_string(), "5m0s");
  for (const char* key : {"avg", "p50", "p90", "p95", "p99"})
    EXPECT_TRUE(fiveMinutes.at("usage").at(key).as_object().empty()) << key;
  ASSERT_EQ(status.at("podsMetric").as_array().size(), 1u);
  const json::Value& pod = status.at("podsMetric").at(0);
  EXPECT_EQ(pod.at("name").as_string(), "web");
  EXPECT_EQ(pod.at("priority").as_string(), "koord-prod");
  EXPECT_EQ(pod.at("qos").as_string(), "LS");
  EXPECT_NEAR(cpuOf(pod.at("podUsage")), 1.5, 0.01);
  EXPECT_TRUE(status.at("prodReclaimableMetric").as_object().contains("resource"));
}

// An evictor's window longer than the seconds are kept is remembered more coarsely, while it is asked for.
TEST(Agent, RemembersAsLongAsEvictorsLookBack) {
  using namespace std::chrono_literals;
  Small machine;
  Scene scene(machine.fs.path());
  scene.put("Node", testing::nodeJson("n1", "4", "8Gi"));
  scene.put(
      "NodeSLO",
      R"({"metadata":{"name":"n1","resourceVersion":"7"},"spec":{"resourceUsedThresholdWithBE":{)"
      R"("enable":true,"cpuEvictTimeWindowSeconds":7200}}})");
  scene.start();
  scene.ticks(2, [&](int i) { machine.at(i + 1); });
  const History& history = scene.agent().history();
  EXPECT_NE(&history.over(HistoryKind::kNode, 2h), &history.node());
  EXPECT_EQ(history.stepOver(HistoryKind::kNode, 2h), Duration(10s));
  EXPECT_EQ(history.stepOver(HistoryKind::kNode, 30min), Duration(1s));
}

TEST(Agent, SendsNothingWhileNothingChangesButStaysFresh) {
  Small machine;
  machine.addPod(0);
  Scene scene(machine.fs.path());
  scene.put("NodeMetric", testing::nodeMetricJson("n1"));
  scene.put("Pod", testing::podJson("web", kUid));
  scene.start();
  // Until every window has filled, each of them is news.
  scene.seconds(2000);
  const size_t before = scene.patches.size();
  scene.seconds(1800);
  const size_t sent = scene.patches.size() - before;
  EXPECT_GE(sent, 1800u / 180) << "no reader may call it expired";
  EXPECT_LE(sent, 1800u / 130) << "the reference sends 30";
  EXPECT_GT(scene.agent().reporterStats().skipped, 10u);
}

TEST(Agent, NoiseOfASecondIsNotNewsToAnybody) {
  Small machine;
  machine.addPod(0);
  Scene scene(machine.fs.path());
  scene.put("NodeMetric",
            testing::nodeMetricJson("n1", R"({"nodeAggregatePolicy":{"durations":["5m"]}})"));
  scene.put("Pod", testing::podJson("web", kUid));
  scene.start();
  Rng rng(7);
  double second = 0;
  // A tenth up or down in each second.
  const auto noisy = [&](int) { machine.at(second += 0.9 + 0.2 * rng.unit()); };
  scene.ticks(330, noisy);
  const size_t before = scene.patches.size();
  scene.ticks(900, noisy);
  EXPECT_LE(scene.patches.size() - before, 8u) << "the reference sends 15";
}

TEST(Agent, ReportsEarlyWhenLoadJumps) {
  Small machine;
  Scene scene(machine.fs.path());
  scene.put("NodeMetric", testing::nodeMetricJson("n1"));
  scene.start();
  double cpu = 0;
  const auto at = [&](double cores) {
    cpu += cores;
    machine.fs.write("proc/stat", fmt::format("cpu  {} 0 0 1 0 0 0\n", int64_t(cpu * 100)));
  };
  scene.ticks(70, [&](int) { at(0.5); });
  const size_t before = scene.patches.size();
  scene.ticks(6, [&](int) { at(3.5); });
  EXPECT_EQ(scene.patches.size(), before + 1);
  EXPECT_EQ(scene.agent().reporterStats().early, 1u);
}

TEST(Agent, WithoutNodeMetricNothingIsWrittenAndNothingFails) {
  Small machine;
  Scene scene(machine.fs.path());
  scene.start();
  scene.ticks(100, [&](int i) { machine.at(i + 1); });
  EXPECT_TRUE(scene.patches.empty());
  EXPECT_EQ(scene.agent().reporterStats().failed, 0u);
  EXPECT_GE(scene.agent().reporterStats().absent, 1u);
}

TEST(Agent, ApiServerAwayForAnHour) {
  Small machine;
  machine.addPod(0);
  Scene scene(machine.fs.path());
  scene.put("NodeMetric", testing::nodeMetricJson("n1"));
  scene.put("Pod", testing::podJson("web", kUid));
  scene.start();
  scene.ticks(10, [&](int i) { machine.at(i + 1); });
  scene.apiAway = true;
  scene.seconds(3600);
  EXPECT_GT(scene.agent().reporterStats().failed, 10u);
  EXPECT_EQ(scene.look().pods[0].usage.cpu, 0.0) << "measuring goes on";
  scene.apiAway = false;
  const size_t before = scene.patches.size();
  scene.seconds(15);
  EXPECT_EQ(scene.patches.size(), before + 1) << "back within the shortest gap";
}

TEST(Agent, GarbageIsRefusedAndCountedAndHealsItself) {
  Small machine;
  machine.addPod(0);
  Scene scene(machine.fs.path());
  scene.start();
  scene.ticks(3, [&](int i) { machine.at(i + 1); });
  const std::string garbage[] = {"",
                                 "cpu",
                                 std::string(200000, 'x'),
                                 std::string("\0\xff\n", 3),
                                 "usage_usec -5\nnr_periods x\n",
                                 "usage_usec 9223372036854775807\n",
                                 "cpu  -1 -1 -1 -1 -1 -1 -1\n",
                                 "MemTotal: 99999999999999999999 kB\nMemFree: -1 kB\n",
                                 "anon 1\nfile -3\ninactive_anon 9223372036854775807\n"
                                 "active_anon 9223372036854775807\ninactive_file 1\nactive_file 1\n"
                                 "unevictable 1\n"};
  double second = 3;
  for (const std::string& text : garbage) {
    for (const char* path : {"proc/stat", "proc/meminfo"}) machine.fs.write(path, text);
    for (const char* name : {"/cpu.stat", "/memory.stat"}) {
      machine.fs.write(kPod + name, text);
      machine.fs.write(kPods + name, text);
      machine.fs.write(kPod + "/cri-containerd-abc.scope" + name, text);
    }
    const auto before = scene.agent().collectorStats().troubles;
    scene.ticks(1);
    const auto after = scene.agent().collectorStats().troubles;
    EXPECT_GT(after.unreadable + after.implausible, before.unreadable + before.implausible);
    EXPECT_FALSE(scene.look().node.usage.cpu);
    EXPECT_FALSE(scene.look().node.usage.memory);
    EXPECT_FALSE(scene.look().pods[0].usage.cpu);
    EXPECT_FALSE(scene.look().pods[0].usage.memory);
    scene.ticks(3, [&](int) { machine.at(second += 1); });
    EXPECT_NEAR(scene.look().node.usage.cpu.value(), 2, 0.01);
    EXPECT_NEAR(scene.look().pods[0].usage.cpu.value(), 1.5, 0.01);
  }
}

TEST(Agent, ShrinkingCountersAndHotUnplugDropOneSample) {
  Small machine;
  Scene scene(machine.fs.path());
  scene.start();
  scene.ticks(5, [&](int i) { machine.at(100 + i); });
  machine.at(3);  // a CPU went offline: the sum shrinks
  scene.ticks(1);
  EXPECT_FALSE(scene.look().node.usage.cpu);
  EXPECT_EQ(scene.agent().collectorStats().troubles.shrunk, 2u) << "node and pods";
  scene.ticks(1, [&](int) { machine.at(4); });
  EXPECT_NEAR(scene.look().node.usage.cpu.value(), 2, 1e-9);
}

TEST(Agent, WallClockJumpsChangeNoRate) {
  Small machine;
  Scene scene(machine.fs.path());
  scene.start();
  scene.ticks(5, [&](int i) { machine.at(i + 1); });
  scene.clock.stepWall(std::chrono::hours(-5));
  scene.ticks(1, [&](int) { machine.at(6); });
  EXPECT_NEAR(scene.look().node.usage.cpu.value(), 2, 1e-9);
  EXPECT_NE(scene.internal.exposition().find("mangrove_agent_clock_jumps_total 1"),
            std::string::npos);
}

TEST(Agent, ASuspendedMachineForgetsWhatItSawAndReportsAtOnce) {
  Small machine;
  machine.fs.write("proc/uptime", "1000.00 1.00\n");
  Scene scene(machine.fs.path());
  scene.put("NodeMetric", testing::nodeMetricJson("n1"));
  scene.start();
  scene.ticks(400, [&](int i) { machine.at(i + 1); });
  const size_t before = scene.patches.size();
  // Eight hours in which neither monotonic time nor any counter moved.
  scene.clock.stepWall(std::chrono::hours(8));
  machine.fs.write("proc/uptime", "30200.00 1.00\n");
  scene.ticks(12, [&](int i) { machine.at(401 + i); });
  EXPECT_NEAR(scene.look().node.usage.cpu.value(), 2, 1e-9) << "rates do not care";
  ASSERT_GT(scene.patches.size(), before) << "the old report's time is hours ago";
  const auto& shelf = scene.agent().history().node();
  const auto window = shelf.window(scene.agent().history().nodeTrack(), node_column::kCpu,
                                   MonoTime{}, scene.clock.mono());
  EXPECT_LE(window.values.size(), 12u) << "what was before is not the last five minutes";
  EXPECT_NE(scene.internal.exposition().find("mangrove_agent_suspensions_total 1"),
            std::string::npos);
}

TEST(Agent, AClockThatWasSetKeepsTheHistoryAndReportsAtOnce) {
  Small machine;
  machine.fs.write("proc/uptime", "1000.00 1.00\n");
  Scene scene(machine.fs.path());
  scene.put("NodeMetric", testing::nodeMetricJson("n1"));
  scene.start();
  scene.ticks(200, [&](int i) { machine.at(i + 1); });
  const size_t before = scene.patches.size();
  machine.fs.write("proc/uptime", "1200.00 1.00\n");
  scene.clock.stepWall(std::chrono::hours(-2));
  scene.ticks(12, [&](int i) { machine.at(201 + i); });
  EXPECT_GT(scene.patches.size(), before);
  EXPECT_NE(scene.internal.exposition().find("mangrove_agent_suspensions_total 0"),
            std::string::npos);
  const auto& shelf = scene.agent().history().node();
  EXPECT_GE(shelf
                .window(scene.agent().history().nodeTrack(), node_column::kCpu, MonoTime{},
                        scene.clock.mono())
                .values.size(),
            200u);
}

TEST(Agent, TasksThatBeginToStallAreReportedEarlyAndOnce) {
  Small machine;
  Scene scene(machine.fs.path());
  scene.put("NodeMetric", testing::nodeMetricJson("n1"));
  scene.start();
  const auto run = [&](int count) {
    scene.ticks(count, [&, start = scene.clock.mono()](int) {
      machine.at(std::chrono::duration<double>(scene.clock.mono().time_since_epoch()).count());
    });
  };
  run(20);
  const size_t before = scene.patches.size();
  scene.agent().stalled(Pressing::kMemory);
  run(5);
  EXPECT_EQ(scene.patches.size(), before + 1);
  EXPECT_EQ(scene.agent().reporterStats().early, 1u);
  for (int i = 0; i < 15; ++i) {
    scene.agent().stalled(Pressing::kMemory);
    run(1);
  }
  EXPECT_EQ(scene.agent().reporterStats().early, 1u) << "the same story";
  EXPECT_NE(
      scene.internal.exposition().find(R"(mangrove_agent_stalls_total{resource="memory"} 16)"),
      std::string::npos);
}

TEST(Agent, KilledAndStartedAgainKnowsItsHistory) {
  Small machine;
  machine.addPod(0);
  double second = 0;
  const FakeRoot state;
  AgentOptions options;
  options.historyDir = state.path() / "history";
  options.predict.checkpointDir = state.path() / "models";
  Scene scene(machine.fs.path(), options);
  scene.put("NodeMetric", testing::nodeMetricJson("n1"));
  scene.put("Pod", testing::podJson("web", kUid));
  scene.start();
  const auto run = [&](int count) { scene.ticks(count, [&](int) { machine.at(second += 1); }); };
  run(400);
  const Model before = *scene.agent().predictor().models().find(kUid);
  const size_t patches = scene.patches.size();
  scene.killAndRestart();
  const Model* after = scene.agent().predictor().models().find(kUid);
  ASSERT_NE(after, nullptr);
  EXPECT_NEAR(effectiveLessons(after->cpu, scene.clock.wall()),
              effectiveLessons(before.cpu, scene.clock.wall()), 1e-6);
  EXPECT_TRUE(scene.agent().history().restored());
  run(12);
  ASSERT_GT(scene.patches.size(), patches);
  // Five minutes of history: the five-minute aggregates are there at once.
  const json::Value& usage = scene.patches.back().at("status").at("nodeMetric");
  EXPECT_NEAR(cpuOf(usage.at("aggregatedNodeUsages").at(0).at("usage").at("p99")), 2, 0.01);
  run(120);
  // 400 s and 132 s make 6 + 2 lessons; the restart neither repeats nor loses one.
  EXPECT_NEAR(
      effectiveLessons(scene.agent().predictor().models().find(kUid)->cpu, scene.clock.wall()), 8,
      0.1);
}

TEST(Agent, FastTicksReadCpuOnlyAndDoNotDistortTheHistory) {
  Small machine;
  machine.addPod(0);
  AgentOptions options;
  options.collect.period = std::chrono::milliseconds(100);
  Scene scene(machine.fs.path(), options);
  scene.start();
  // Bursts of 200 ms in each second: 2 cores on average.
  scene.ticks(100, [&](int i) { machine.at((i + 1) / 10 + ((i + 1) % 10 >= 8 ? 0.5 : 0)); });
  const auto& node = scene.agent().history().node();
  const auto cpu = node.average(scene.agent().history().nodeTrack(), node_column::kCpu, MonoTime{},
                                scene.clock.mono());
  EXPECT_NEAR(cpu.value(), 2, 0.15);
  EXPECT_LE(scene.agent().collectorStats().slots, 11u);
}

TEST(Agent, WithoutDescriptorsToSpareEverythingIsStillRead) {
  Small machine;
  machine.addPod(0);
  AgentOptions options;
  options.collect.reader.descriptors = 3;
  Scene scene(machine.fs.path(), options);
  scene.start();
  scene.ticks(4, [&](int i) { machine.at(i + 1); });
  EXPECT_LE(scene.agent().collectorStats().openFiles, 3u);
  EXPECT_NEAR(scene.look().pods[0].usage.cpu.value(), 1.5, 1e-9);
  EXPECT_EQ(scene.look().pods[0].containers[0].usage.memory, kMiB * 512);
}

// Files read every second keep their descriptors; those read now and then give theirs away.
TEST(Agent, TheColdestFilesAreClosedFirst) {
  FakeRoot fs;
  for (int i = 0; i < 6; ++i) fs.write(fmt::format("f{}", i), fmt::format("{}\n", i));
  const kernel::SysRoot root = fs.root();
  Reader reader(root, {.descriptors = 3});
  std::vector<HotFile> files;
  for (int i = 0; i < 6; ++i) files.emplace_back(fmt::format("f{}", i));
  // 0 to 2 are read every 5 ticks and come first; 3 to 5 in each tick.
  for (int tick = 0; tick < 21; ++tick) {
    reader.begin();
    for (int i = 0; i < 6; ++i) {
      if (i < 3 && tick % 5 != 0) continue;
      const auto text = reader.read(files[i]);
      ASSERT_EQ(text.value_or(""), fmt::format("{}\n", i));
      ASSERT_LE(reader.openFiles(), 3u);
    }
  }
  for (int i = 0; i < 6; ++i) EXPECT_EQ(files[i].isOpen(), i >= 3) << i;
  EXPECT_EQ(reader.stats().closed, 3u) << "once each, and no fighting after that";
  files.erase(files.begin() + 3);  // moves the others
  EXPECT_EQ(reader.openFiles(), 2u);
  reader.begin();
  EXPECT_EQ(reader.read(files[3]).value_or(""), "4\n");
}

TEST(NextTick, SkipsWhatWasMissed) {
  using namespace std::chrono_literals;
  const MonoTime t{100s};
  EXPECT_EQ(nextTick(t, t + 5ms, 1s).at, t + 1s);
  EXPECT_EQ(nextTick(t, t + 1s, 1s).at, t + 2s);
  const NextTick late = nextTick(t, t + 3500ms, 1s);
  EXPECT_EQ(late.at, t + 4s);
  EXPECT_EQ(late.missed, 3u);
}

}  // namespace
}  // namespace mangrove::agent
