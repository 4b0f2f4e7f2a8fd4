#include "kernel/cgroup_dir.h"

#include <array>

#include <gtest/gtest.h>

#include "kernel/testing/fake_root.h"

namespace mangrove::kernel {
namespace {

constexpr const char* kPods = "sys/fs/cgroup/kubepods.slice";

FakeRoot pods() {
  return FakeRoot{dir(kPods, file("cpu.stat", "usage_usec 1200000\n"), file("cgroup.procs", ""),
                      dir("pod-a", file("cpu.max", "max 100000\n")))};
}

TEST(CgroupDir, ReadsWritesAndKeepsControlFiles) {
  const FakeRoot fs = pods();
  auto all = CgroupDir::open(fs.root(), kPods);
  ASSERT_TRUE(all);
  auto pod = all->child("pod-a");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->path(), "sys/fs/cgroup/kubepods.slice/pod-a");

  std::array<char, 256> buffer;
  EXPECT_EQ(all->read(control::kCpuStat, buffer).value(), 19u);
  EXPECT_EQ(all->read(control::kProcs, buffer).value(), 0u);
  EXPECT_EQ(pod->read(control::kMemoryMax, buffer).value(), std::nullopt);

  auto quota = pod->keep(control::kCpuMax, Access::kReadWrite);
  ASSERT_TRUE(quota);
  ASSERT_TRUE(pod->write(control::kCpuMax, "50000 100000"));
  EXPECT_EQ(std::string_view(buffer.data(), quota->read(buffer).value()), "50000 100000");
}

TEST(CgroupDir, ErrorsNameTheCgroup) {
  FakeRoot fs = pods();
  EXPECT_EQ(CgroupDir::open(fs.root(), "sys/fs/cgroup/none").error().text(),
            "cgroup sys/fs/cgroup/none: open sys/fs/cgroup/none: No such file or directory");
  auto pod = CgroupDir::open(fs.root(), std::string(kPods) + "/pod-a");
  ASSERT_TRUE(pod);
  fs.remove(pod->path());
  EXPECT_FALSE(pod->stillThere());
  std::array<char, 256> buffer;
  EXPECT_EQ(pod->read(control::kCpuMax, buffer).error().code(), Code::kGone);
}

// The cgroup file system itself: a removed cgroup must not answer through a new one of the same
// name.
TEST(CgroupDir, RealCgroupThatIsRemovedAndMadeAgain) {
  std::string base;
  for (const char* candidate : {"/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/memory"}) {
    const std::string name = fmt::format("{}/mangrove-kernel-test", candidate);
    std::error_code error;
    if (std::filesystem::create_directory(name, error) &&
        std::filesystem::exists(name + "/cgroup.procs")) {
      base = name;
      break;
    }
    std::filesystem::remove(name, error);
  }
  if (base.empty()) GTEST_SKIP() << "cannot make a cgroup here";
  auto cgroup = CgroupDir::open(SysRoot(), base.substr(1));
  ASSERT_TRUE(cgroup);
  auto kept = cgroup->keep(control::kProcs, Access::kRead);
  std::array<char, 256> buffer;
  EXPECT_EQ(cgroup->read(control::kProcs, buffer).value(), 0u);
  ASSERT_TRUE(std::filesystem::remove(base));
  ASSERT_TRUE(std::filesystem::create_directory(base));
  EXPECT_FALSE(cgroup->stillThere());
  EXPECT_EQ(cgroup->read(control::kProcs, buffer).error().code(), Code::kGone);
  EXPECT_FALSE(kept->read(buffer));
  std::filesystem::remove(base);
}

}  // namespace
}  // namespace mangrove::kernel
