// Real cgroups with real processes: what is measured must be what happened. Skipped by name where
// cgroups cannot be made.
#include <ctime>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/bench/pod_cgroups.h"
#include "agent/collect/collector.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;

// CPU time of another process, to the nanosecond; /proc counts in ticks of 10 ms.
Duration cpuOf(int pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::string uidOf(int i) {
  return fmt::format("0a1b2c3d-0000-4000-8000-{:012}", i);
}

// A collector over this machine's own cgroups, below a parent of the test's.
class RealCgroups : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = PodCgroups::make(fmt::format("mangrove-test-{}", ::getpid()));
    if (!made) GTEST_SKIP() << "cannot make cgroups here: " << made.error().text();
    pods.emplace(*std::move(made));
    MachineOptions options = liveMachine();
    options.mounts.cgroupParent = pods->parent();
    options.driver = kernel::CgroupDriver::kCgroupfs;
    auto opened = Machine::open(options);
    ASSERT_TRUE(opened) << opened.error().text();
    machine = *std::move(opened);
    history.emplace(History::open({}, realClock().mono()));
    collector.emplace(*machine, realClock(), *history, CollectorOptions{});
  }
  // Ticks a second apart, on time.
  void ticks(int count) {
    for (int i = 0; i < count; ++i) {
      std::this_thread::sleep_until(next);
      collector->tick(book);
      next += 1s;
    }
  }
  const PodLook* find(const std::string& uid) const {
    for (const PodLook& pod : collector->look().pods)
      if (pod.uid == uid) return &pod;
    return nullptr;
  }

  std::optional<PodCgroups> pods;
  std::unique_ptr<Machine> machine;
  std::optional<History> history;
  std::optional<Collector> collector;
  PodBook book;
  MonoTime next = realClock().mono();
};

TEST_F(RealCgroups, UsageOfABurningProcessIsRightWithinOnePercent) {
  ASSERT_TRUE(pods->add(uidOf(1), 1));
  ASSERT_TRUE(pods->burn(uidOf(1)));
  const int pid = pods->lastProcess(uidOf(1));
  ticks(2);
  const MonoTime begun = realClock().mono();
  const Duration before = cpuOf(pid);
  double seconds = 0;  // of CPU, as the looks say
  for (int i = 0; i < 11; ++i) {
    ticks(1);
    ASSERT_TRUE(find(uidOf(1))->usage.cpu);
    seconds +=
        *find(uidOf(1))->usage.cpu * std::chrono::duration<double>(collector->look().since).count();
  }
  const double used = std::chrono::duration<double>(cpuOf(pid) - before).count();
  EXPECT_NEAR(seconds / used, 1, 0.01) << "reported " << seconds << ", real " << used;
  // The history weighs every second alike, so its mean is that of the time only if the process had
  // its CPU all the time.
  const double share = used / std::chrono::duration<double>(realClock().mono() - begun).count();
  const auto id = history->pods().find(uidOf(1));
  ASSERT_TRUE(id);
  const auto mean = history->pods().average(*id, pod_column::kCpu, begun, realClock().mono());
  ASSERT_TRUE(mean);
  if (share > 0.98) {
    EXPECT_NEAR(*mean, 1, 0.02) << "it burns one CPU";
  }
}

TEST_F(RealCgroups, ANewContainerIsSeenAtTheNextTick) {
  ticks(2);
  EXPECT_EQ(find(uidOf(2)), nullptr);
  ASSERT_TRUE(pods->add(uidOf(2), 2));
  ticks(1);
  ASSERT_NE(find(uidOf(2)), nullptr);
  EXPECT_EQ(find(uidOf(2))->containers.size(), 2u);
  ticks(1);
  EXPECT_TRUE(find(uidOf(2))->containers[0].usage.cpu);
}

TEST_F(RealCgroups, APodStormLosesNoSampleOfOthersAndLeaksNothing) {
  for (int i = 1; i <= 5; ++i) ASSERT_TRUE(pods->add(uidOf(i), 1));
  ticks(3);
  const size_t openBefore = collector->stats().openFiles;
  const auto slotsBefore = collector->stats().slots;
  const MonoTime begun = realClock().mono();
  // 500 pods come and go while the collector keeps its time.
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(pods->add(uidOf(1000 + i), 1, false));
    ticks(1);
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(pods->remove(uidOf(1000 + i)));
    ticks(1);
  }
  EXPECT_EQ(collector->look().pods.size(), 5u);
  EXPECT_EQ(collector->stats().openFiles, openBefore);
  EXPECT_EQ(history->pods().tracks(), 5u);
  const auto slots = collector->stats().slots - slotsBefore;
  for (int i = 1; i <= 5; ++i) {
    const auto id = history->pods().find(uidOf(i));
    ASSERT_TRUE(id);
    const auto window = history->pods().window(*id, pod_column::kCpu, begun, realClock().mono());
    EXPECT_EQ(window.values.size(), slots) << "pod " << i;
  }
}

}  // namespace
}  // namespace mangrove::agent
