#include "agent/guardian/guardian.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using kernel::CgroupVersion;
using std::chrono::seconds;

MonoTime at(int s) {
  return MonoTime(seconds(s));
}

TEST(Heartbeat, ReadsWhatItWrote) {
  for (const Heartbeat& beat :
       {Heartbeat{at(12), "sys/fs/cgroup/cpu/kubepods/besteffort/cpu.cfs_quota_us", 250000,
                  CgroupVersion::kV1, false},
        Heartbeat{at(1), "", kUnlimited, CgroupVersion::kV2, false},
        Heartbeat{at(1), "", kUnlimited, CgroupVersion::kV1, true},
        Heartbeat{at(9), "quota", 250000, CgroupVersion::kV2, false, "be/memory.high", 1 << 30,
                  kUnlimited}}) {
    const std::string text = formatHeartbeat(beat);
    EXPECT_EQ(text.size(), 512u);
    auto read = parseHeartbeat(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, beat);
  }
  for (const char* text : {"", "beat", "beat x 1 v1 a", "beat 1 y v1 a", "beat 1 1 v3 a",
                           "sleep 1 1 v1 a", "beat 1 1 v1"})
    EXPECT_FALSE(parseHeartbeat(text)) << text;
}

TEST(Heartbeat, FileIsReplacedAsAWhole) {
  const auto dir =
      std::filesystem::temp_directory_path() / ("heartbeat-test-" + std::to_string(::getpid()));
  HeartbeatFile file((dir / "beat").string());
  ASSERT_TRUE(file.beat({at(1), "a/long/path/to/a/file", 100000, CgroupVersion::kV1, false}));
  ASSERT_TRUE(file.beat({at(2), "b", 5, CgroupVersion::kV1, false}));
  EXPECT_EQ(readHeartbeat(file.path())->quotaFile, "b");
  ASSERT_TRUE(file.bye());
  EXPECT_TRUE(readHeartbeat(file.path())->bye);
  std::filesystem::remove_all(dir);
}

TEST(Guardian, StepsInWhenTheAgentDiesOrHangs) {
  const Heartbeat beat{at(100), "quota", 250000, CgroupVersion::kV1, false};
  Heartbeat bye = beat, nothing = beat, free = beat;
  bye.bye = true;
  nothing.quotaFile.clear();
  free.safe = kUnlimited;
  struct Row {
    const Heartbeat& last;
    int now;
    bool closed, guards;
  };
  for (const Row& row :
       {Row{beat, 101, false, false}, Row{beat, 105, false, false}, Row{beat, 106, false, true},
        Row{beat, 100, true, true}, Row{bye, 200, true, false}, Row{nothing, 200, true, false},
        Row{free, 200, true, false}})
    EXPECT_EQ(mustGuard(row.last, at(row.now), row.closed, seconds(5)), row.guards)
        << row.now << row.closed;
}

TEST(Guardian, OnlyEverNarrows) {
  struct Row {
    CgroupVersion version;
    const char *before, *after;
    Guarded did;
  };
  const auto lowered = Guarded::kLowered, within = Guarded::kWithin;
  for (const Row& row : {Row{CgroupVersion::kV1, "-1\n", "250000", lowered},
                         Row{CgroupVersion::kV1, "300000\n", "250000", lowered},
                         Row{CgroupVersion::kV1, "2000\n", "2000\n", within},
                         Row{CgroupVersion::kV2, "max 100000\n", "250000", lowered},
                         Row{CgroupVersion::kV2, "5000 100000\n", "5000 100000\n", within}}) {
    kernel::FakeRoot fs;
    fs.write("be/quota", row.before);
    const kernel::SysRoot root(fs.path());
    auto done = putOnSafeLimit(root, {at(1), "be/quota", 250000, row.version, false});
    ASSERT_TRUE(done);
    EXPECT_EQ(*done, row.did) << row.before;
    EXPECT_EQ(fs.read("be/quota"), row.after);
  }
  kernel::FakeRoot empty;
  const kernel::SysRoot root(empty.path());
  EXPECT_EQ(putOnSafeLimit(root, {at(1), "be/quota", 1, CgroupVersion::kV1, false}),
            Guarded::kNothing);
}

// The agent was killed and its node torn down: nobody is left who would end this one.
TEST(Guardian, EndsWhenNothingIsLeftToGuard) {
  kernel::FakeRoot fs;
  HeartbeatFile file((fs.path() / "beat").string());
  ASSERT_TRUE(file.beat({realClock().mono(), "be/quota", 250000, CgroupVersion::kV1, false}));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[1]);
  EXPECT_TRUE(runGuardian({.heartbeat = file.path(),
                           .root = fs.path(),
                           .pipe = ends[0],
                           .interval = std::chrono::milliseconds(1),
                           .forget = std::chrono::milliseconds(5)},
                          realClock()));
  ::close(ends[0]);
}

// v1 refuses a group's quota below its children's: they come first. Memory is held as well.
TEST(Guardian, LowersChildrenFirstAndHoldsMemory) {
  kernel::FakeRoot fs;
  for (const char* dir : {"be/", "be/pod1/", "be/pod1/c/", "be/pod2/"})
    fs.write(std::string(dir) + "cpu.cfs_quota_us", "400000\n");
  fs.write("be/pod2/cpu.cfs_quota_us", "1000\n");
  fs.write("mem/memory.limit_in_bytes", "9223372036854771712\n");
  Heartbeat beat{at(1), "be/cpu.cfs_quota_us", 250000, CgroupVersion::kV1, false};
  beat.memoryFile = "mem/memory.limit_in_bytes";
  beat.memory = 1 << 30;
  const kernel::SysRoot root(fs.path());
  EXPECT_EQ(*putOnSafeLimit(root, beat), Guarded::kLowered);
  for (const char* dir : {"be/", "be/pod1/", "be/pod1/c/"})
    EXPECT_EQ(fs.read(std::string(dir) + "cpu.cfs_quota_us"), "250000") << dir;
  EXPECT_EQ(fs.read("be/pod2/cpu.cfs_quota_us"), "1000\n") << "it has less";
  EXPECT_EQ(fs.read("mem/memory.limit_in_bytes"), "1073741824");
}

}  // namespace
}  // namespace mangrove::agent
