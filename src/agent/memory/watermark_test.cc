#include "agent/memory/watermark.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

constexpr int64_t kM = 1 << 20;

TEST(ReclaimMark, TakesDownToTheEndOfTheMark) {
  const ReclaimMark mark{"c", 95, 20};
  struct Row {
    const char* what;
    int64_t current, limit, file;
    bool active;
    int64_t step;
  };
  for (const Row& row : {
           Row{"below the mark", 940, 1000, 500, false, 0},
           Row{"at it", 950, 1000, 500, false, 0},
           Row{"above it, down to 930", 960, 1000, 500, false, 30},
           Row{"on the way down", 940, 1000, 500, true, 10},
           Row{"arrived", 930, 1000, 500, true, 0},
           Row{"no more than can be read again", 990, 1000, 20, false, 20},
           Row{"nothing to give", 990, 1000, 0, false, 0},
           Row{"64 MiB at once", 9900, 10000, 5000, false, 64},
           Row{"no limit", 990, 0, 500, false, 0},
       }) {
    const WatermarkSight sight{Bytes{row.current * kM}, Bytes{row.limit * kM}, Bytes{row.file * kM},
                               row.active};
    EXPECT_EQ(watermarkStep(sight, mark).v / kM, row.step) << row.what;
  }
  EXPECT_EQ(watermarkStep({Bytes{990 * kM}, Bytes{1000 * kM}, Bytes{500 * kM}}, {"c", 0, 50}).v, 0)
      << "off";
}

struct Stage {
  explicit Stage(bool v2) {
    fs.write(v2 ? "sys/fs/cgroup/cgroup.controllers" : "sys/fs/cgroup/cpu/tasks",
             v2 ? "cpu memory\n" : "\n");
    dir = v2 ? "sys/fs/cgroup/kubepods/pod1/" : "sys/fs/cgroup/memory/kubepods/pod1/";
    fs.write(dir + (v2 ? "memory.current" : "memory.usage_in_bytes"), std::to_string(980 * kM));
    fs.write(dir + (v2 ? "memory.max" : "memory.limit_in_bytes"), std::to_string(1000 * kM));
    fs.write(dir + "memory.high", "max");
    fs.write(dir + "memory.reclaim", "");
    const std::string prefix = v2 ? "" : "total_";
    fs.write(dir + "memory.stat",
             fmt::format("{0}inactive_anon 0\n{0}active_anon 0\n{0}unevictable 0\n"
                         "{0}inactive_file {1}\n{0}active_file 0\n{0}cache {1}\n{0}rss {2}\n"
                         "anon {2}\nfile {1}\n",
                         prefix, 400 * kM, 580 * kM));
  }
  std::vector<WatermarkReport> turn(bool dry = false) {
    auto trees = kernel::Hierarchies::detect(root, kernel::Mounts());
    return keeper.turn(*trees, {{"kubepods/pod1", 95, 20}}, true, dry);
  }
  kernel::FakeRoot fs;
  kernel::SysRoot root{fs.path()};
  VirtualClock clock;
  WatermarkKeeper keeper{root, clock};
  std::string dir;
};

TEST(ReclaimMark, AsksTheKernelToReclaim) {
  Stage stage(true);
  const auto done = stage.turn();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wanted.v, 50 * kM);
  EXPECT_EQ(done[0].outcome, "done");
  EXPECT_EQ(stage.fs.read(stage.dir + "memory.reclaim"), std::to_string(50 * kM));
}

TEST(ReclaimMark, PutsTheLimitOfV1Back) {
  Stage stage(false);
  const auto done = stage.turn();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wanted.v, 50 * kM);
  EXPECT_EQ(stage.fs.read(stage.dir + "memory.limit_in_bytes"), std::to_string(1000 * kM));
}

TEST(ReclaimMark, ADryRunWritesNothing) {
  Stage stage(true);
  EXPECT_EQ(stage.turn(true).at(0).outcome, "dry-run");
  EXPECT_EQ(stage.fs.read(stage.dir + "memory.reclaim"), "");
}

}  // namespace
}  // namespace mangrove::agent
