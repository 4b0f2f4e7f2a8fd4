#include "agent/executor/reflex_file.h"

#include <gtest/gtest.h>

#include "agent/executor/owners.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using kernel::CgroupVersion;

TEST(ReflexFile, OnlyNarrows) {
  struct Row {
    CgroupVersion version;
    const char* before;
    int64_t most;
    const char* after;
    bool written;
  };
  for (const Row& row : {Row{CgroupVersion::kV1, "-1\n", 50000, "50000", true},
                         Row{CgroupVersion::kV1, "40000\n", 50000, "40000\n", false},
                         Row{CgroupVersion::kV1, "50000\n", 50000, "50000\n", false},
                         Row{CgroupVersion::kV2, "max 100000\n", 50000, "50000", true},
                         Row{CgroupVersion::kV2, "60000 100000\n", 200, "1000", true}}) {
    kernel::FakeRoot fs{kernel::file("quota", row.before)};
    auto file =
        ReflexFile::open(fs.root(), "quota", {"cpu.cfs_quota_us", owner::kPressure, row.version});
    ASSERT_TRUE(file) << file.error().text();
    const auto done = file->narrow(row.most, file->present());
    ASSERT_TRUE(done) << done.error().text();
    EXPECT_EQ(*done, row.written) << row.before;
    EXPECT_EQ(fs.read("quota"), row.after);
  }
}

TEST(ReflexFile, IsForOwnersOfTheFile) {
  kernel::FakeRoot fs{kernel::file("quota", "-1\n")};
  const auto denied = ReflexFile::open(fs.root(), "quota", {"cpu.cfs_quota_us", owner::kBlkio});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().text(), "blkio may not write cpu.cfs_quota_us");
  EXPECT_FALSE(ReflexFile::open(fs.root(), "none", {"cpu.cfs_quota_us", owner::kPressure}));
}

TEST(ReflexFile, WritesWhenItCannotRead) {
  kernel::FakeRoot fs{kernel::file("limit", "nonsense")};
  auto file = ReflexFile::open(fs.root(), "limit", {"memory.limit_in_bytes", owner::kGiveBack});
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->present());
  EXPECT_TRUE(*file->narrow(4096, file->present()));
  EXPECT_EQ(fs.read("limit"), "4096");
}

}  // namespace
}  // namespace mangrove::agent
