// Foreign writes are heard of by inotify, over a tree of real files.
#include "agent/executor/write_watch.h"

#include <gtest/gtest.h>

#include "agent/executor/owners.h"
#include "base/check.h"
#include "base/testing/wait.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

const std::string kDir = "sys/fs/cgroup/cpu/kubepods/besteffort/";

TEST(WriteWatch, AForeignWriteIsRepairedWithoutATick) {
  kernel::FakeRoot fs;
  fs.write("sys/devices/system/cpu/online", "0-3\n");
  fs.write("sys/devices/system/cpu/possible", "0-3\n");
  fs.write("sys/devices/system/cpu/cpu0/topology/core_id", "0\n");
  fs.write("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
  fs.write(kDir + "cpu.cfs_quota_us", "-1\n");
  fs.write(kDir + "cpu.shares", "2\n");
  auto machine = Machine::open({.root = fs.path(), .live = false});
  CHECK(machine, "{}", machine.error().text());
  AuditLog audit;
  Executor executor(**machine, realClock(), audit);
  const Wish wish{"kubepods/besteffort", "cpu.cfs_quota_us", Part::base(FileValue::of(50000)), "t"};
  const OwnedWish owned{owner::kCpuSuppress, &wish};
  executor.apply({&owned, 1});
  Mailbox owner;
  uint64_t heard = 0;
  std::unique_ptr<WriteWatch> watch;
  watch = WriteWatch::start(**machine, owner, [&] {
    ++heard;
    executor.repair(watch->written());
    watch->follow(executor);
  });
  watch->follow(executor);
  ASSERT_EQ(watch->directories(), 1u);
  const MonoTime begun = realClock().mono();
  fs.write(kDir + "cpu.cfs_quota_us", "-1\n");
  ASSERT_TRUE(runUntil(owner, [&] { return executor.totals().conflicts == 1; }));
  // Milliseconds on a machine with nothing else to do; the tick would have taken a second.
  EXPECT_LT(realClock().mono() - begun, std::chrono::milliseconds(900));
  EXPECT_EQ(fs.read(kDir + "cpu.cfs_quota_us"), "50000");
  // A neighbour's file is nobody's business, and what we write ourselves is no news.
  fs.write(kDir + "cpu.shares", "4\n");
  EXPECT_TRUE(watch->written().empty());
  executor.apply({});
  watch->follow(executor);
  EXPECT_EQ(watch->directories(), 0u) << "nothing is held any more";
  EXPECT_EQ(fs.read(kDir + "cpu.cfs_quota_us"), "-1");
}

}  // namespace
}  // namespace mangrove::agent
