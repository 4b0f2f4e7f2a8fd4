// Random wishes and foreign writes: whatever happens, a child never exceeds its parent, no value is
// out of range, and nobody writes a file that is not theirs.
#include <gtest/gtest.h>

#include "agent/executor/executor.h"
#include "agent/executor/owners.h"
#include "base/check.h"
#include "base/number/rng.h"
#include "base/testing/size.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

const std::string kSet = "sys/fs/cgroup/cpuset/";
const std::vector<std::string> kGroups = {"kubepods/besteffort", "kubepods/besteffort/poda",
                                          "kubepods/besteffort/poda/c"};

CpuSet anyCpus(Rng& rng) {
  CpuSet out;
  for (int cpu = 0; cpu < 8; ++cpu)
    if (rng.below(2) == 0) out.add(cpu);
  if (out.empty()) out.add(static_cast<int>(rng.below(8)));
  return out;
}

TEST(Executor, ChildrenStayWithinParentsWhateverHappens) {
  kernel::FakeRoot fs;
  fs.write("sys/devices/system/cpu/online", "0-7\n");
  fs.write("sys/devices/system/cpu/possible", "0-7\n");
  fs.write("sys/devices/system/cpu/cpu0/topology/core_id", "0\n");
  fs.write("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
  fs.write("sys/fs/cgroup/cpu/kubepods/cpu.shares", "2\n");
  for (const std::string& group : kGroups) fs.write(kSet + group + "/cpuset.cpus", "0-7\n");
  auto machine = Machine::open({.root = fs.path(), .live = false});
  CHECK(machine, "{}", machine.error().text());
  VirtualClock clock;
  AuditLog audit;
  Executor executor(**machine, clock, audit);
  Rng rng(7);
  uint64_t checked = 0;
  std::map<std::string, CpuSet> now;
  for (const std::string& group : kGroups) now[group] = CpuSet::range(0, 7);
  for (int round = 0; round < sized(300, 20000); ++round) {
    clock.advance(std::chrono::seconds(1));
    const CpuSet cpus = anyCpus(rng);
    std::vector<Wish> wishes;
    for (const std::string& group : kGroups)
      wishes.push_back({group, "cpuset.cpus", Part::base(FileValue::of(cpus)), "random"});
    std::vector<OwnedWish> owned;
    for (const Wish& wish : wishes) owned.push_back({owner::kCpuSuppress, &wish});
    executor.apply(owned);
    // Replays what was written in this round and looks after each step.
    std::vector<AuditRecord> log = audit.last(0, audit.count() - checked);
    checked = audit.count();
    for (auto it = log.rbegin(); it != log.rend(); ++it) {
      now[it->cgroup] = *CpuSet::parse(it->to);
      for (size_t i = 1; i < kGroups.size(); ++i)
        ASSERT_TRUE(now[kGroups[i]].isSubsetOf(now[kGroups[i - 1]])) << "round " << round;
    }
    for (const std::string& group : kGroups) ASSERT_EQ(now[group], cpus) << "round " << round;
  }
}

}  // namespace
}  // namespace mangrove::agent
