// Steps against offline work as a whole, from the ladder's order to control files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/qos/interference/board.h"
#include "agent/qos/testing/machine_bench.h"

namespace mangrove::agent {
namespace {

using testing::MachineBench;

std::string machineDir(const char* name) {
  return std::string(MANGROVE_SOURCE_DIR) + "/test/machines/" + name;
}

// All that was written since the start.
class Story {
 public:
  explicit Story(MachineBench& bench) : bench_(bench) {}
  bool has(const std::string& part) { return text().find(part) != std::string::npos; }
  const std::string& text() {
    for (const std::string& line : bench_.writes()) text_ += line + "\n";
    return text_;
  }

 private:
  MachineBench& bench_;
  std::string text_;
};

const std::string kResctrl = "sys/fs/resctrl/";

void giveFiles(MachineBench& bench, const std::string& group) {
  bench.fs.write(kResctrl + group + "/schemata", "    MB:0=100\n    L3:0=fff\n");
  bench.fs.write(kResctrl + group + "/tasks", "");
}

// The ladder's wish reaches the class of offline work although that class is off, and leaves it.
TEST(InterferenceRungs, CacheAndBandwidthOfOfflineWork) {
  auto board = std::make_shared<InterferenceBoard>();
  StrategyOptions options;
  options.interference = board;
  MachineBench bench(machineDir("anolis-v1-resctrl"), defaultStrategies(options));
  for (const char* group : {"BE", "BE-exempt"}) giveFiles(bench, group);
  bench.slo(R"("resourceQOSStrategy":{"beClass":{"resctrlQOS":{"enable":false}}})");
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.threads("job", "41,42");
  bench.start();
  Story story(bench);
  bench.seconds(2);
  EXPECT_EQ(board->means.ways, 12);
  EXPECT_EQ(board->means.offlineWays, 12);
  EXPECT_TRUE(board->means.bandwidth);
  const auto held = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      board->hold.ways = 3;
      board->hold.waysWhy = "L3 cache ways: shop/web suffers";
      board->hold.bandwidth = 50;
      board->hold.bandwidthWhy = "L4: shop/web suffers";
      bench.seconds(1);
    }
  };
  held(2);
  EXPECT_TRUE(story.has("BE/schemata schemata[L3]: 0=fff -> 0=7")) << story.text();
  EXPECT_TRUE(story.has("BE/schemata schemata[MB]: 0=100 -> 0=50")) << story.text();
  EXPECT_TRUE(story.has("shop/web suffers"));
  // A kernel shows both lines after each write; the file here has the last one alone.
  bench.fs.write(kResctrl + "BE/schemata", "    MB:0=50\n    L3:0=7\n");
  bench.seconds(3);
  EXPECT_TRUE(story.has("-> 0=fff")) << story.text();
  EXPECT_EQ(board->means.offlineWays, 12) << "what it has without us";
}

// A service with CPUs of its own waits for CPUs: offline work leaves the siblings of its cores.
TEST(InterferenceRungs, SiblingsOfAServicesCores) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  ASSERT_TRUE(bench.gate("InterferencePSI=true,MitigationLadder=true"));
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":false})");
  bench.pod(
      {.name = "web",
       .tier = "burstable",
       .qos = "LSR",
       .resources = R"({"limits":{"cpu":"2"},"requests":{"cpu":"2"}})",
       .annotations = R"({"scheduling.koordinator.sh/resource-status":"{\"cpuset\":\"0-1\"}"})",
       .priority = 9500});
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.start();
  Story story(bench);
  const auto before = CpuSet::parse(bench.read("job", "cpuset.cpus"));
  ASSERT_TRUE(before);
  const kernel::CpuTopology& cpus = bench.scene->agent().machine().cpus();
  const CpuSet cores = cpus.siblingsOf(0) | cpus.siblingsOf(1);
  ASSERT_GT(cores.size(), 2u) << "a machine with siblings";
  const std::string dir =
      bench.scene->agent().machine().trees().pressurePath(bench.cgroupOf("web"));
  double total = 0;
  CpuSet least = *before;
  for (int i = 0; i < 90; ++i) {
    bench.use("web", 1.5);
    bench.use("job", 3);
    total += 400'000;
    bench.fs.write(dir + "/cpu.pressure",
                   fmt::format("some avg10=40.00 avg60=0.00 avg300=0.00 total={}\n",
                               static_cast<int64_t>(total)));
    bench.seconds(1);
    if (const auto now = CpuSet::parse(bench.read("job", "cpuset.cpus")); now && !now->empty())
      if (now->size() < least.size()) least = *now;
  }
  EXPECT_TRUE((least & cores).empty()) << least.text() << "\n" << story.text();
  bench.leave();
  EXPECT_EQ(bench.read("job", "cpuset.cpus"), before->text());
}

// A service that waits for disks: offline work is served last, where the kernel weighs.
TEST(InterferenceRungs, DisksServeOfflineWorkLast) {
  MachineBench bench(machineDir("v2-2socket-smt"));
  ASSERT_TRUE(bench.gate("InterferencePSI=true,MitigationLadder=true"));
  bench.slo(R"("resourceUsedThresholdWithBE":{"enable":false})");
  bench.pod({.name = "db",
             .tier = "burstable",
             .qos = "LS",
             .resources = R"({"limits":{"cpu":"2"},"requests":{"cpu":"2"}})",
             .priority = 9500});
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.start();
  Story story(bench);
  if (bench.read("job", "io.weight").empty()) bench.write("job", "io.weight", "default 100\n");
  const std::string dir = bench.scene->agent().machine().trees().pressurePath(bench.cgroupOf("db"));
  double total = 0;
  for (int i = 0; i < 60; ++i) {
    bench.use("db", 0.5);
    bench.use("job", 1);
    total += 600'000;
    bench.fs.write(dir + "/io.pressure",
                   fmt::format("some avg10=60.00 avg60=0.00 avg300=0.00 total={}\n"
                               "full avg10=10.00 avg60=0.00 avg300=0.00 total=0\n",
                               static_cast<int64_t>(total)));
    bench.seconds(1);
  }
  EXPECT_TRUE(story.has("io.weight[default]: 100 -> 1")) << story.text();
  EXPECT_TRUE(story.has("disk weight"));
}

}  // namespace
}  // namespace mangrove::agent
