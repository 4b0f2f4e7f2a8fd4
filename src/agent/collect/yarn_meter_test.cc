#include "agent/collect/yarn_meter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using std::chrono::seconds;
constexpr std::string_view kPod = "kubepods/besteffort/podnm";

class YarnProcesses : public ::testing::Test {
 protected:
  YarnProcesses() {
    fs.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    fs.write("sys/devices/system/cpu/online", "0-1\n");
    fs.write("sys/devices/system/cpu/possible", "0-1\n");
    for (int i = 0; i < 2; ++i) {
      const std::string dir = fmt::format("sys/devices/system/cpu/cpu{}/topology/", i);
      fs.write(dir + "core_id", fmt::format("{}\n", i));
      fs.write(dir + "physical_package_id", "0\n");
    }
    fs.write("proc/meminfo", "MemTotal: 2048 kB\nMemFree: 1024 kB\nMemAvailable: 1024 kB\n");
    fs.write("proc/stat", "cpu 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\n");
    auto opened = Machine::open({.root = fs.path(), .live = false});
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().text());
    machine = std::move(*opened);
    // The cgroup of the pod's container, in which all processes are.
    processes("10\n11\n12\n13\n");
    process(10, "java NodeManager", "HOME=/", 500, 0, 1);
    process(11, "bash /l/container_1_0001_01_000001/launch.sh", "HOME=/", 0, 0, 1);
    process(12, "java", "CONTAINER_ID=container_1_0001_01_000002", 100, 0, 10);
    process(13, "python3", "CONTAINER_ID=container_1_0002_01_000001", 0, 0, 5);
  }
  void processes(const std::string& pids) {
    fs.write(fmt::format("sys/fs/cgroup/{}/c1/cgroup.procs", kPod), pids);
  }
  void process(int pid, const std::string& command, const std::string& environment, int ticks,
               int ofChildren, int pages, int started = 7) {
    const std::string dir = fmt::format("proc/{}/", pid);
    fs.write(dir + "cmdline", command);
    fs.write(dir + "environ", environment);
    fs.write(dir + "stat",
             fmt::format("{} (a) b) S 1 1 1 0 -1 0 0 0 0 0 {} 0 {} 0 20 0 1 0 {} 0 {} 0 0\n", pid,
                         ticks, ofChildren, started, pages));
  }
  std::vector<api::YarnUse> after(int passed) {
    now += seconds(passed);
    return meter->sample(kPod, now);
  }

  kernel::FakeRoot fs;
  std::unique_ptr<Machine> machine;
  MonoTime now{seconds(100)};
  std::unique_ptr<YarnMeter> meter = nullptr;
  void SetUp() override { meter = std::make_unique<YarnMeter>(*machine); }
};

TEST_F(YarnProcesses, AreAccountedToTheirApplication) {
  const auto first = after(0);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].application, "application_1_0001");
  EXPECT_EQ(first[0].containers, 2);
  EXPECT_EQ(first[0].memory, machine->pageSize() * 11);
  EXPECT_EQ(first[0].cores, 0) << "nothing to compare with";
  EXPECT_EQ(first[1].application, "application_1_0002");
  process(12, "java", "CONTAINER_ID=container_1_0001_01_000002", 1'100, 0, 10);
  const auto second = after(10);
  const double jiffy = std::chrono::duration<double>(machine->jiffy()).count();
  EXPECT_NEAR(second[0].cores, 1'000 * jiffy / 10, 1e-9);
  EXPECT_EQ(second[1].cores, 0);
}

TEST_F(YarnProcesses, ChildrenThatEndedCountWithTheirParents) {
  process(14, "sort", "CONTAINER_ID=container_1_0001_01_000002", 300, 0, 1);
  processes("10\n11\n12\n13\n14\n");
  after(0);
  processes("10\n11\n12\n13\n");
  process(12, "java", "CONTAINER_ID=container_1_0001_01_000002", 100, 400, 10);
  const double jiffy = std::chrono::duration<double>(machine->jiffy()).count();
  EXPECT_NEAR(after(10)[0].cores, 100 * jiffy / 10, 1e-9);
}

TEST_F(YarnProcesses, ANumberThatIsUsedAgainIsAnotherProcess) {
  after(0);
  process(13, "java", "CONTAINER_ID=container_1_0003_01_000001", 50, 0, 5, 99);
  const auto uses = after(10);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[1].application, "application_1_0003");
  EXPECT_EQ(uses[1].cores, 0);
}

TEST_F(YarnProcesses, NobodyIsThereWithoutContainers) {
  processes("10\n");
  EXPECT_TRUE(after(0).empty());
  EXPECT_TRUE(meter->sample("kubepods/besteffort/podgone", now).empty());
}

}  // namespace
}  // namespace mangrove::agent
