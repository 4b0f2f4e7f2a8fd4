#include "agent/memory/give_back.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kM = 1 << 20;

// A v1 machine made of files, with a limit of 1000 MiB over all pods and one batch pod.
struct Stage {
  kernel::FakeRoot fs{kernel::dir("sys/fs/cgroup/memory/kubepods/besteffort/pod1"),
                      kernel::dir("sys/fs/cgroup/unified/kubepods/besteffort/pod1"),
                      kernel::dir("sys/fs/cgroup/cpu"),
                      kernel::file("sys/fs/cgroup/unified/cgroup.controllers", "\n")};
  kernel::SysRoot root{fs.path()};
  VirtualClock clock;
  std::vector<RungReport> rungs;
  std::vector<std::string> evicted;
  GiveBack giveBack{root,
                    clock,
                    {.onRung = [this](const RungReport& r) { rungs.push_back(r); },
                     .onEvict = [this](const std::string& uid, Bytes,
                                       const std::string&) { evicted.push_back(uid); }}};
  GiveBackOrders orders;
  int64_t batchFile = 0, batchAnon = 0, service = 0;  // MiB

  Stage() {
    orders.trees = std::make_shared<const kernel::Hierarchies>(
        *kernel::Hierarchies::detect(root, kernel::Mounts()));
    orders.pods = "kubepods";
    orders.batch = {{"uid-1", "kubepods/besteffort/pod1", 0, true, false}};
    orders.there = {.limit = true, .freeze = true, .evict = true};
    fs.write("sys/fs/cgroup/memory/kubepods/memory.limit_in_bytes", std::to_string(1000 * kM));
    fs.write(pod("memory.limit_in_bytes"), "9223372036854771712\n");
    fs.write(freezer(), "0\n");
    giveBack.order(orders);
  }
  std::string pod(const std::string& name) const {
    return "sys/fs/cgroup/memory/kubepods/besteffort/pod1/" + name;
  }
  std::string freezer() const {
    return "sys/fs/cgroup/unified/kubepods/besteffort/pod1/cgroup.freeze";
  }
  void look() {
    fs.write("proc/meminfo",
             "MemTotal: 8192000 kB\nMemFree: 4096000 kB\nMemAvailable: 6000000 kB\n");
    const int64_t batch = (batchFile + batchAnon) * kM;
    fs.write("sys/fs/cgroup/memory/kubepods/memory.usage_in_bytes",
             std::to_string(batch + service * kM));
    fs.write(pod("memory.usage_in_bytes"), std::to_string(batch));
    fs.write(
        pod("memory.stat"),
        fmt::format("total_inactive_anon {}\ntotal_active_anon 0\ntotal_unevictable 0\n"
                    "total_inactive_file {}\ntotal_active_file 0\ntotal_cache {}\ntotal_rss {}\n",
                    batchAnon * kM, batchFile * kM, batchFile * kM, batchAnon * kM));
    clock.advance(milliseconds(100));
    giveBack.turn();
  }
};

TEST(GiveBack, LeavesBatchAloneWhileThereIsRoom) {
  Stage stage;
  stage.batchFile = 600, stage.service = 200;
  for (int i = 0; i < 20; ++i) stage.look();
  EXPECT_TRUE(stage.rungs.empty());
  EXPECT_TRUE(stage.giveBack.caps().empty());
}

TEST(GiveBack, LowersTheLimitInSteps) {
  Stage stage;
  stage.batchFile = 600, stage.service = 390;
  stage.look();
  ASSERT_EQ(stage.rungs.size(), 1u);
  EXPECT_EQ(stage.rungs[0].kind, RungKind::kLimit);
  EXPECT_EQ(stage.rungs[0].outcome, "done");
  EXPECT_EQ(stage.rungs[0].wanted.v, 20 * kM);  // 3 % of 1000, 10 are left
  EXPECT_EQ(stage.fs.read(stage.pod("memory.limit_in_bytes")), std::to_string(580 * kM));
  ASSERT_EQ(stage.giveBack.caps().size(), 1u);
  EXPECT_EQ(stage.giveBack.caps()[0].most.v, 580 * kM);
}

TEST(GiveBack, GoesOnWhereALimitFreedNothing) {
  Stage stage;
  stage.batchFile = 600, stage.service = 395;
  stage.look();
  // The files do not change: as a kernel that could not reclaim. The next rung is the last.
  stage.look();
  ASSERT_EQ(stage.rungs.size(), 2u);
  EXPECT_EQ(stage.rungs[1].kind, RungKind::kEvict);
  EXPECT_EQ(stage.evicted, std::vector<std::string>{"uid-1"});
}

TEST(GiveBack, FreezesWhoGrowsAndThawsWhoLeaves) {
  Stage stage;
  stage.orders.there.evict = false;
  stage.giveBack.order(stage.orders);
  stage.service = 395;
  for (int64_t anon : {596, 600}) stage.batchAnon = anon, stage.look();
  EXPECT_EQ(stage.fs.read(stage.freezer()), "1");
  EXPECT_EQ(stage.giveBack.frozen().size(), 1u);
  // Somebody deletes the pod: a frozen process would not see the SIGTERM.
  stage.orders.batch[0].leaving = true;
  stage.giveBack.order(stage.orders);
  stage.look();
  EXPECT_EQ(stage.fs.read(stage.freezer()), "0");
}

TEST(GiveBack, ThawsAndLetsGoWhenThereIsRoomAgain) {
  Stage stage;
  stage.batchFile = 600, stage.service = 390;
  stage.look();
  stage.batchFile = 300, stage.service = 100;
  for (int i = 0; i < 10 * 60; ++i) stage.look();
  EXPECT_TRUE(stage.giveBack.caps().empty());
  Stage frozen;
  frozen.giveBack.adopt({"kubepods/besteffort/pod1"});
  frozen.fs.write(frozen.freezer(), "1");
  for (int i = 0; i < 10 * 15; ++i) frozen.look();
  EXPECT_EQ(frozen.fs.read(frozen.freezer()), "0");
}

// What stood there before the first cut is told with every cap, so that it can be given back.
TEST(GiveBack, RemembersWhatWasThereBeforeTheFirstCut) {
  Stage stage;
  stage.fs.write(stage.pod("memory.limit_in_bytes"), std::to_string(900 * kM) + "\n");
  stage.batchFile = 600, stage.service = 390;
  stage.look();
  ASSERT_EQ(stage.giveBack.caps().size(), 1u);
  EXPECT_EQ(stage.giveBack.caps()[0].before, 900 * kM);
  stage.batchFile = 580, stage.service = 415;
  for (int i = 0; i < 60; ++i) stage.look();
  ASSERT_EQ(stage.giveBack.caps().size(), 1u);
  EXPECT_LT(stage.giveBack.caps()[0].most.v, 580 * kM) << "cut again";
  EXPECT_EQ(stage.giveBack.takeCaps()[0].before, 900 * kM);
  EXPECT_TRUE(stage.giveBack.caps().empty());
}

// From the moment it is asked a pod counts as leaving; nobody else goes for the same shortage.
TEST(GiveBack, AsksOnePodForOneShortage) {
  Stage stage;
  for (const char* uid : {"2", "3"}) {
    const std::string dir = fmt::format("sys/fs/cgroup/memory/kubepods/besteffort/pod{}/", uid);
    stage.fs.write(dir + "memory.usage_in_bytes", std::to_string(300 * kM));
    stage.fs.write(dir + "memory.stat",
                   fmt::format("total_inactive_anon {}\ntotal_active_anon 0\n"
                               "total_unevictable 0\ntotal_inactive_file 0\n"
                               "total_active_file 0\ntotal_cache 0\ntotal_rss {}\n",
                               300 * kM, 300 * kM));
    stage.orders.batch.push_back(
        {fmt::format("uid-{}", uid), fmt::format("kubepods/besteffort/pod{}", uid), 0, true});
  }
  stage.orders.there = {.evict = true};
  stage.giveBack.order(stage.orders);
  stage.batchAnon = 300, stage.service = 95;
  stage.fs.write("sys/fs/cgroup/memory/kubepods/memory.limit_in_bytes", std::to_string(400 * kM));
  for (int i = 0; i < 25; ++i) stage.look();
  EXPECT_EQ(stage.evicted.size(), 1u) << "2.5 s of shortage";
}

// Best-effort pods beside the others share the others' ceiling.
TEST(GiveBack, TheCeilingCoversBothGroups) {
  Stage stage;
  stage.orders.beside = "kubepods-besteffort";
  stage.giveBack.order(stage.orders);
  stage.service = 390;
  stage.look();
  EXPECT_TRUE(stage.rungs.empty());
  stage.fs.write("sys/fs/cgroup/memory/kubepods-besteffort/memory.usage_in_bytes",
                 std::to_string(600 * kM));
  stage.batchFile = 600;
  stage.look();
  EXPECT_FALSE(stage.rungs.empty()) << "990 of 1000 MiB together";
}

TEST(GiveBack, ThawsAtTheEnd) {
  Stage stage;
  stage.look();
  stage.giveBack.adopt({"kubepods/besteffort/pod1"});
  stage.fs.write(stage.freezer(), "1");
  stage.giveBack.stop();
  EXPECT_EQ(stage.fs.read(stage.freezer()), "0");
}

}  // namespace
}  // namespace mangrove::agent
