#include "kernel/sys_root.h"

#include <array>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "kernel/resolve.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::kernel {
namespace {

using Buffer = std::array<char, 8192>;

std::string text(const Result<std::optional<size_t>>& size, const Buffer& buffer) {
  if (!size) return "error: " + size.error().text();
  return *size ? std::string(buffer.data(), **size) : "absent";
}

FakeRoot machine() {
  return FakeRoot{
      dir("sys/fs/cgroup", file("cpu.stat", "usage_usec 1\n"),
          dir("pod", file("cpu.max", "max\n"))),
      dir("sys/class/net", link("eth0", "../../devices/pci/eth0"),
          link("abs", "/sys/devices/pci/eth0"), link("up", "../../../../../../../../etc/passwd"),
          link("out", "/etc/passwd"), link("loop", "loop")),
      dir("sys/devices/pci/eth0", file("speed", "10000\n")),
      file("etc/passwd", "inside\n"),
  };
}

TEST(SysRoot, ReadsBelowItsRootOnly) {
  const FakeRoot fs = machine();
  const SysRoot root = fs.root();
  struct Row {
    const char* path;
    const char* expected;
  };
  for (auto [path, expected] :
       {Row{"sys/fs/cgroup/cpu.stat", "usage_usec 1\n"},
        {"/sys/fs/cgroup/cpu.stat", "usage_usec 1\n"},
        {"sys/fs/cgroup/pod/../cpu.stat", "usage_usec 1\n"},
        {"../../../../etc/passwd", "inside\n"},
        {"sys/class/net/eth0/speed", "10000\n"},
        {"sys/class/net/abs/speed", "10000\n"},
        {"sys/class/net/up", "inside\n"},
        {"sys/class/net/out", "inside\n"},
        {"sys/class/net/loop", "error: open sys/class/net/loop: Too many levels of symbolic links"},
        {"sys/fs/cgroup/no", "absent"},
        {"no/no", "absent"},
        {"sys/fs/cgroup/cpu.stat/x", "error: open sys/fs/cgroup/cpu.stat/x: Not a directory"}}) {
    Buffer buffer;
    EXPECT_EQ(text(root.read(path, buffer), buffer), expected) << path;
  }
}

TEST(SysRoot, BothResolversAgree) {
  const FakeRoot fs = machine();
  UniqueFd root(::open(fs.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const char* path :
       {"sys/fs/cgroup/cpu.stat", "sys/class/net/eth0/speed", "sys/class/net/abs/speed",
        "sys/class/net/up", "sys/class/net/out", "sys/class/net/loop", "../etc/passwd", "no", "sys",
        ".", "sys/./fs//cgroup/", "sys/fs/cgroup/cpu.stat/x"}) {
    UniqueFd quick(openInRoot(root.get(), path, O_RDONLY | O_CLOEXEC));
    const int quickError = quick ? 0 : errno;
    UniqueFd careful(openByHand(root.get(), path, O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(careful ? 0 : errno, quickError) << path;
    if (!quick || !careful) continue;
    const std::string a = "/proc/self/fd/" + std::to_string(quick.get());
    const std::string b = "/proc/self/fd/" + std::to_string(careful.get());
    EXPECT_EQ(std::filesystem::read_symlink(a), std::filesystem::read_symlink(b)) << path;
  }
}

TEST(SysRoot, KeptFilesSeeNewContent) {
  FakeRoot fs = machine();
  auto stat = fs.root().open("sys/fs/cgroup/cpu.stat", Access::kRead);
  ASSERT_TRUE(stat);
  Buffer buffer;
  for (const char* now : {"usage_usec 1\n", "usage_usec 123456789\n", "u\n", ""}) {
    fs.write("sys/fs/cgroup/cpu.stat", now);
    auto size = stat->read(buffer);
    ASSERT_TRUE(size);
    EXPECT_EQ(std::string_view(buffer.data(), *size), now);
  }
}

TEST(SysRoot, ABufferTooSmallIsSaid) {
  const FakeRoot fs{file("proc/stat", std::string(10000, 'x'))};
  std::array<char, 100> small;
  auto size = fs.root().read("proc/stat", small);
  ASSERT_FALSE(size);
  EXPECT_EQ(size.error().code(), Code::kTooLarge);
  EXPECT_EQ(size.error().text(), "read proc/stat: more than the 100 bytes there is room for");
  std::vector<char> exact(10000);
  EXPECT_EQ(fs.root().read("proc/stat", exact).value(), 10000u);
}

TEST(SysRoot, WritesReplaceTheContent) {
  const FakeRoot fs = machine();
  const SysRoot root = fs.root();
  ASSERT_TRUE(root.write("sys/fs/cgroup/pod/cpu.max", "400000 100000"));
  ASSERT_TRUE(root.write("sys/fs/cgroup/pod/cpu.max", "max"));
  EXPECT_EQ(fs.read("sys/fs/cgroup/pod/cpu.max"), "max");
  auto absent = root.write("sys/fs/cgroup/pod/cpu.idle", "1");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code(), Code::kNotFound);
  EXPECT_EQ(absent.error().text(),
            "write '1': open sys/fs/cgroup/pod/cpu.idle: No such file or directory");
  EXPECT_FALSE(fs.exists("sys/fs/cgroup/pod/cpu.idle"));
}

TEST(SysRoot, AccessIsKept) {
  const FakeRoot fs = machine();
  auto readOnly = fs.root().open("sys/fs/cgroup/cpu.stat", Access::kRead);
  EXPECT_FALSE(readOnly->write("x"));
  auto writeOnly = fs.root().open("sys/fs/cgroup/cpu.stat", Access::kWrite);
  Buffer buffer;
  EXPECT_FALSE(writeOnly->read(buffer));
  auto both = fs.root().open("sys/fs/cgroup/cpu.stat", Access::kReadWrite);
  ASSERT_TRUE(both->write("new"));
  EXPECT_EQ(both->read(buffer).value(), 3u);
}

TEST(SysRoot, ListsExistsAndLinks) {
  const FakeRoot fs = machine();
  const SysRoot root = fs.root();
  EXPECT_EQ(root.list("sys/fs/cgroup").value(),
            (std::vector<Entry>{{"cpu.stat", false}, {"pod", true}}));
  EXPECT_TRUE(root.exists("sys/class/net/eth0").value());
  EXPECT_FALSE(root.exists("sys/class/net/eth1").value());
  EXPECT_FALSE(root.exists("sys/fs/cgroup/cpu.stat/x").value());
  EXPECT_EQ(root.readLink("sys/class/net/eth0").value(), "../../devices/pci/eth0");
  EXPECT_FALSE(root.readLink("sys/fs/cgroup/cpu.stat"));
  EXPECT_EQ(root.list("nowhere").error().text(), "open nowhere: No such file or directory");
}

TEST(SysRoot, AMissingRootFailsEveryCallWithTheReason) {
  const SysRoot root("/nowhere/at/all");
  Buffer buffer;
  EXPECT_EQ(text(root.read("proc/stat", buffer), buffer),
            "error: open the root /nowhere/at/all: No such file or directory");
  EXPECT_FALSE(root.list("proc"));
  EXPECT_FALSE(root.exists("proc"));
}

TEST(Dir, TellsARecreatedDirectoryFromTheOldOne) {
  FakeRoot fs = machine();
  auto pod = fs.root().dir("sys/fs/cgroup/pod");
  ASSERT_TRUE(pod);
  EXPECT_TRUE(pod->stillThere());
  fs.remove("sys/fs/cgroup/pod");
  fs.write("sys/fs/cgroup/other", "takes the freed inode");
  fs.add(dir("sys/fs/cgroup/pod", file("cpu.max", "new\n")));
  EXPECT_FALSE(pod->stillThere());
  Buffer buffer;
  auto size = pod->read("cpu.max", buffer);
  ASSERT_FALSE(size);
  EXPECT_EQ(size.error().code(), Code::kGone);
  EXPECT_EQ(size.error().text(), "read sys/fs/cgroup/pod/cpu.max: sys/fs/cgroup/pod was removed");
}

TEST(Dir, FollowsSymlinksIntoOtherPartsOfTheRoot) {
  const FakeRoot fs = machine();
  auto net = fs.root().dir("sys/class/net");
  ASSERT_TRUE(net);
  Buffer buffer;
  EXPECT_EQ(text(net->read("eth0/speed", buffer), buffer), "10000\n");
  EXPECT_EQ(text(net->read("abs/speed", buffer), buffer), "10000\n");
  EXPECT_EQ(text(net->read("out", buffer), buffer), "inside\n");
  EXPECT_EQ(net->path(), "sys/class/net");
  auto eth0 = net->dir("eth0");
  ASSERT_TRUE(eth0);
  EXPECT_EQ(eth0->identity(), fs.root().dir("sys/devices/pci/eth0")->identity());
}

TEST(Dir, OutlivesItsRoot) {
  const FakeRoot fs = machine();
  auto pod = [&] { return fs.root().dir("sys/fs/cgroup/pod"); }();
  Buffer buffer;
  EXPECT_EQ(text(pod->read("cpu.max", buffer), buffer), "max\n");
}

TEST(RealMachine, ProcAndSysAnswer) {
  const SysRoot root;
  if (!root.exists("proc/self/stat").value_or(false)) GTEST_SKIP() << "no procfs here";
  std::vector<char> buffer(1 << 20);
  EXPECT_GT(root.read("proc/stat", buffer).value().value_or(0), 10u);
  EXPECT_GT(root.read("proc/meminfo", buffer).value().value_or(0), 10u);
  EXPECT_EQ(root.read("proc/no-such-file", buffer).value(), std::nullopt);
  auto load = root.open("proc/loadavg", Access::kRead);
  ASSERT_TRUE(load);
  for (int i = 0; i < 3; ++i) EXPECT_GT(load->read(buffer).value(), 5u);
  auto proc = root.dir("proc");
  ASSERT_TRUE(proc);
  EXPECT_TRUE(proc->stillThere());
  EXPECT_EQ(proc->readLink("self").value(), std::to_string(::getpid()));
  EXPECT_GT(proc->list()->size(), 10u);
}

TEST(RealMachine, TheSameThroughAConfinedRoot) {
  const SysRoot root("/proc");
  if (!root.exists("stat").value_or(false)) GTEST_SKIP() << "no procfs here";
  std::vector<char> buffer(1 << 20);
  EXPECT_GT(root.read("stat", buffer).value().value_or(0), 10u);
  EXPECT_GT(root.read("sys/kernel/hostname", buffer).value().value_or(0), 0u);
}

}  // namespace
}  // namespace mangrove::kernel
