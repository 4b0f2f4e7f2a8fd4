// The shells around the decisions, against files: cgroups in a fake tree, volumes, logs, addresses.
#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mailbox.h"
#include "base/os/files.h"
#include "base/os/temp_folder.h"
#include "base/text/strings.h"
#include "kernel/testing/fake_root.h"
#include "runtime/node/network/network.h"
#include "runtime/node/node_object.h"
#include "runtime/node/pods/action.h"
#include "runtime/node/pods/cgroups.h"
#include "runtime/node/pods/static_pods.h"
#include "runtime/node/sessions/log_reader.h"
#include "runtime/node/volumes/config_source.h"
#include "runtime/node/volumes/volumes.h"
#include "runtime/shim/log_file.h"

namespace mangrove::runtime {
namespace {

namespace fs = std::filesystem;
using kernel::dir;
using kernel::FakeRoot;
using kernel::file;

std::string slurp(const std::string& path) {
  return readFile(path).value_or("<" + path + " is not there>");
}

TEST(Cgroups, LaysOutVersionOneAsAKubelet) {
  FakeRoot machine{dir("sys/fs/cgroup", dir("cpu,cpuacct", file("cgroup.procs", "")),
                       dir("memory", file("cgroup.procs", "")),
                       dir("unified", file("cgroup.procs", "")), dir("no-hierarchy"))};
  const kernel::SysRoot root = machine.root();
  auto cgroups = Cgroups::open(root, "/top");
  ASSERT_TRUE(cgroups) << cgroups.error().text();
  EXPECT_FALSE(cgroups->isV2());
  const std::string pod = cgroups->podPath(api::KubeQos::kBurstable, "u1");
  EXPECT_EQ(pod, "top/kubepods/burstable/podu1");
  EXPECT_EQ(cgroups->podPath(api::KubeQos::kGuaranteed, "u2"), "top/kubepods/podu2");
  EXPECT_EQ(cgroups->joinDirs(pod), (std::vector<std::string>{"sys/fs/cgroup/cpu,cpuacct/" + pod,
                                                              "sys/fs/cgroup/memory/" + pod,
                                                              "sys/fs/cgroup/unified/" + pod}));
  // A kernel makes the files with the directory; here they are missing, which is an error.
  EXPECT_FALSE(cgroups->make(pod, CgroupValues{256, kernel::CpuQuota::ofUs(25000), kMiB * 64, {}}));
  machine.write("sys/fs/cgroup/cpu,cpuacct/" + pod + "/cpu.shares", "");
  machine.write("sys/fs/cgroup/cpu,cpuacct/" + pod + "/cpu.cfs_period_us", "");
  machine.write("sys/fs/cgroup/cpu,cpuacct/" + pod + "/cpu.cfs_quota_us", "");
  machine.write("sys/fs/cgroup/memory/" + pod + "/memory.limit_in_bytes", "");
  auto made = cgroups->make(pod, CgroupValues{256, kernel::CpuQuota::ofUs(25000), kMiB * 64, {}});
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(machine.read("sys/fs/cgroup/cpu,cpuacct/" + pod + "/cpu.shares"), "256");
  EXPECT_EQ(machine.read("sys/fs/cgroup/memory/" + pod + "/memory.limit_in_bytes"), "67108864");
  EXPECT_TRUE(machine.exists("sys/fs/cgroup/unified/" + pod));
  ASSERT_EQ(cgroups->pods().size(), 1u);
  EXPECT_EQ(cgroups->pods()[0].first, "u1");
}

// A cgroup of version 2 that has processes cannot hand controllers on.
// Best-effort pods beside kubepods: neighbours of everything else at that level.
TEST(Cgroups, BestEffortPodsBesideTheOthers) {
  FakeRoot machine{file("sys/fs/cgroup/cgroup.controllers", "cpu memory\n"),
                   dir("sys/fs/cgroup/top/kubepods-besteffort/podu1"),
                   dir("sys/fs/cgroup/top/kubepods/burstable/podu2")};
  const kernel::SysRoot root = machine.root();
  auto cgroups = Cgroups::open(root, "/top", kernel::BestEffortPlace::kBeside);
  ASSERT_TRUE(cgroups) << cgroups.error().text();
  EXPECT_EQ(cgroups->podPath(api::KubeQos::kBestEffort, "u1"), "top/kubepods-besteffort/podu1");
  EXPECT_EQ(cgroups->podPath(api::KubeQos::kBurstable, "u2"), "top/kubepods/burstable/podu2");
  EXPECT_EQ(cgroups->pods().size(), 2u);
  EXPECT_TRUE(cgroups->isPods("top/kubepods-besteffort/podu1"));
  EXPECT_TRUE(cgroups->isPods("top/kubepods/podu3"));
  EXPECT_FALSE(cgroups->isPods("top/kubepods-besteffort"));
  EXPECT_FALSE(cgroups->isPods("top/other/podu3"));
}

TEST(Cgroups, MovesProcessesOutOfTheirParent) {
  FakeRoot machine{dir("sys/fs/cgroup", file("cgroup.controllers", "cpu memory"),
                       file("cgroup.procs", "1\n"),
                       dir("given", file("cgroup.type", "domain"), file("cgroup.procs", "77\n"),
                           dir("mangrove", file("cgroup.procs", ""))))};
  const kernel::SysRoot root = machine.root();
  auto given = Cgroups::open(root, "given");
  ASSERT_TRUE(given && given->isV2());
  ASSERT_TRUE(given->emptyParent());
  EXPECT_EQ(machine.read("sys/fs/cgroup/given/mangrove/cgroup.procs"), "77");
  auto top = Cgroups::open(root, "");
  ASSERT_TRUE(top && top->emptyParent());
  EXPECT_FALSE(machine.exists("sys/fs/cgroup/mangrove"));
}

// The paths of pods that are gone come out of searches that may find nothing.
TEST(Cgroups, KillsAndRemovesNothingButPods) {
  FakeRoot machine{dir("sys/fs/cgroup", dir("cpu", file("cgroup.procs", "")),
                       dir("memory", file("cgroup.procs", "")))};
  const kernel::SysRoot root = machine.root();
  auto cgroups = Cgroups::open(root, "");
  ASSERT_TRUE(cgroups);
  const std::string pod = cgroups->podPath(api::KubeQos::kBestEffort, "u1");
  fs::create_directories(machine.path().string() + "/sys/fs/cgroup/cpu/" + pod);
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  for (const char* path : {"", "kubepods", "kubepods/", "kubepods/..", "system.slice"}) {
    SCOPED_TRACE(path);
    EXPECT_FALSE(cgroups->isPods(path));
    fs::create_directories(machine.path().string() + "/sys/fs/cgroup/cpu/" + path);
    machine.write(std::string("sys/fs/cgroup/cpu/") + path + "/cgroup.procs",
                  std::to_string(child));
    cgroups->kill(path);
    EXPECT_TRUE(cgroups->remove(path));
    EXPECT_EQ(::kill(child, 0), 0);
    EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0);
  }
  EXPECT_TRUE(cgroups->exists(pod));
  machine.write("sys/fs/cgroup/cpu/" + pod + "/cgroup.procs", std::to_string(child));
  cgroups->kill(pod);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(Cgroups, NamesWhatIsMissing) {
  FakeRoot empty{dir("sys/fs/cgroup")};
  const kernel::SysRoot root = empty.root();
  auto cgroups = Cgroups::open(root, "");
  ASSERT_FALSE(cgroups);
  EXPECT_NE(cgroups.error().text().find("cpu and memory controllers"), std::string::npos);
}

// Neither does a kubelet run on such a machine; people are told how to get one that works.
TEST(Cgroups, NamesControllersThatAreInTheOtherVersion) {
  FakeRoot split{dir(
      "sys/fs/cgroup", dir("cpuset", file("cgroup.procs", "")),
      dir("cpu", file("cgroup.procs", "")),
      dir("unified", file("cgroup.procs", ""), file("cgroup.controllers", "io memory pids\n")))};
  const kernel::SysRoot root = split.root();
  auto cgroups = Cgroups::open(root, "");
  ASSERT_FALSE(cgroups);
  EXPECT_NE(cgroups.error().text().find("controller memory is in sys/fs/cgroup/unified"),
            std::string::npos)
      << cgroups.error().text();
  EXPECT_NE(cgroups.error().text().find("unified_cgroup_hierarchy=1"), std::string::npos);
}

TEST(Volumes, FilesChangeAtOnce) {
  TempFolder folder{"runtime"};
  const std::string v = folder.path() + "/v";
  const WallTime t = *parseTime("2026-03-01T12:00:00Z");
  ASSERT_TRUE(*writeFiles(v, {{"a", {"1", std::nullopt}}, {"sub/b", {"2", 0600}}}, 0644, t));
  EXPECT_EQ(slurp(v + "/a"), "1");
  EXPECT_EQ(slurp(v + "/sub/b"), "2");
  EXPECT_EQ(fs::status(v + "/sub/b").permissions(), static_cast<fs::perms>(0600));
  EXPECT_FALSE(*writeFiles(v, {{"a", {"1", std::nullopt}}, {"sub/b", {"2", 0600}}}, 0644, t));
  ASSERT_TRUE(*writeFiles(v, {{"a", {"3", std::nullopt}}}, 0644, t + std::chrono::seconds(1)));
  EXPECT_EQ(slurp(v + "/a"), "3");
  EXPECT_FALSE(fs::exists(v + "/sub/b"));
}

TEST(Volumes, ItemsChooseKeys) {
  const std::map<std::string, std::string> data{{"a", "1"}, {"b", "2"}};
  EXPECT_EQ(selectItems(data, {}, false, "x")->size(), 2u);
  auto some = selectItems(data, {{"a", "dir/file", 0400}}, false, "x");
  ASSERT_TRUE(some);
  EXPECT_EQ(some->at("dir/file").bytes, "1");
  EXPECT_EQ(some->at("dir/file").mode, 0400);
  EXPECT_FALSE(selectItems(data, {{"none", "p", {}}}, false, "configmap \"x\""));
  EXPECT_TRUE(selectItems(data, {{"none", "p", {}}}, true, "x")->empty());
  EXPECT_FALSE(selectItems(data, {{"a", "../p", {}}}, false, "x"));
}

TEST(Logs, AreTurnedOver) {
  TempFolder folder{"runtime"};
  VirtualClock clock(*parseTime("2026-03-01T12:00:00Z"));
  LogFile log(folder.path() + "/0.log", 200, 3, clock);
  ASSERT_TRUE(log.open());
  for (int i = 0; i < 20; ++i) {
    log.write(i % 2 == 1, "line " + std::to_string(i) + "\n");
    clock.advance(std::chrono::milliseconds(1));
  }
  log.write(false, "no end");
  log.finish();
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    ++files;
    EXPECT_LE(entry.file_size(), 300u);
  }
  EXPECT_EQ(files, 3u);
  EXPECT_NE(slurp(folder.path() + "/0.log").find("P no end\n"), std::string::npos);
}

TEST(Logs, LongLinesAreCut) {
  TempFolder folder{"runtime"};
  VirtualClock clock;
  LogFile log(folder.path() + "/0.log", 1 << 20, 3, clock);
  ASSERT_TRUE(log.open());
  log.write(false, std::string(20000, 'x') + "\n");
  const std::string text = slurp(folder.path() + "/0.log");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_NE(text.find(" P xxx"), std::string::npos);
}

class LogReading : public ::testing::Test {
 protected:
  LogReading() {
    std::ofstream old(folder_.path() + "/0.log.20260301-110000"), now(path());
    old << "2026-03-01T11:00:00.000000000Z stdout F one\n";
    now << "2026-03-01T12:00:00.000000000Z stderr F two\n"
        << "2026-03-01T12:00:01.000000000Z stdout P th\n"
        << "2026-03-01T12:00:01.000000000Z stdout F ree\n"
        << "damaged\n";
  }
  std::string path() const { return folder_.path() + "/0.log"; }
  std::string read(const frame::LogOptions& options) {
    auto source = openLog(path(), options, clock_, home_, [] { return false; });
    std::string all;
    for (bool more = true; more;) {
      source->read([&](Result<std::string> got) {
        more = got && !got->empty();
        if (more) all += *got;
      });
      home_.drain();
    }
    return all;
  }
  TempFolder folder_{"runtime"};
  VirtualClock clock_;
  Mailbox home_;
};

TEST_F(LogReading, Options) {
  EXPECT_EQ(read({}), "one\ntwo\nthree\n");
  frame::LogOptions options;
  options.tailLines = 2;
  EXPECT_EQ(read(options), "three\n") << "pieces count as lines";
  options.tailLines = 0;
  EXPECT_EQ(read(options), "");
  options = {};
  options.since = *parseTime("2026-03-01T12:00:00Z");
  EXPECT_EQ(read(options), "two\nthree\n");
  options = {};
  options.timestamps = true;
  EXPECT_EQ(read(options),
            "2026-03-01T11:00:00.000000000Z one\n"
            "2026-03-01T12:00:00.000000000Z two\n"
            "2026-03-01T12:00:01.000000000Z three\n");
  options = {};
  options.limit = Bytes{5};
  EXPECT_EQ(read(options), "one\nt");
  options = {};
  options.stream = "Stderr";
  EXPECT_EQ(read(options), "two\n");
}

TEST_F(LogReading, FollowsWhatComesUntilTheRunEnds) {
  frame::LogOptions options;
  options.follow = true;
  options.tailLines = 0;
  bool running = true;
  auto source = openLog(path(), options, clock_, home_, [&] { return running; });
  std::optional<std::string> got;
  auto next = [&] {
    got.reset();
    source->read([&](Result<std::string> piece) { got = *piece; });
    home_.drain();
  };
  next();
  EXPECT_FALSE(got);
  std::ofstream(path(), std::ios::app) << "2026-03-01T12:00:02.000000000Z stdout F four\n";
  clock_.advance(std::chrono::milliseconds(100));
  home_.drain();
  EXPECT_EQ(got, "four\n");
  fs::rename(path(), path() + ".20260301-120003");
  std::ofstream(path()) << "2026-03-01T12:00:03.000000000Z stdout F five\n";
  next();
  EXPECT_EQ(got, "five\n");
  // Twice at once: none of the files is skipped.
  fs::rename(path(), path() + ".20260301-120004");
  std::ofstream(path()) << "2026-03-01T12:00:04.000000000Z stdout F six\n";
  fs::rename(path(), path() + ".20260301-120005");
  std::ofstream(path()) << "2026-03-01T12:00:05.000000000Z stdout F seven\n";
  next();
  EXPECT_EQ(got, "six\nseven\n");
  running = false;
  next();
  EXPECT_EQ(got, "");
}

TEST(Addresses, RestAfterUse) {
  TempFolder folder{"runtime"};
  Network network({"none0", "10.9.8.0/29", folder.path()});
  if (auto ok = network.start(); !ok) GTEST_SKIP() << ok.error().text();
  std::vector<std::string> given;
  for (int i = 0; i < 6; i++) {  // one pod after the other
    given.push_back(network.allocate("pod")->address);
    network.release("pod");
  }
  EXPECT_EQ(given, (std::vector<std::string>{"10.9.8.2", "10.9.8.3", "10.9.8.4", "10.9.8.5",
                                             "10.9.8.6", "10.9.8.2"}));
  network.stop();
}

TEST(Addresses, SayTheHardwares) {
  const HardwareAddress want = {0x0a, 0x6d, 10, 88, 1, 255};
  EXPECT_EQ(hardwareAddressOf(10 << 24 | 88 << 16 | 1 << 8 | 255), want);
}

TEST(Addresses, AreKeptPerPod) {
  TempFolder folder{"runtime"};
  Network network({"none0", "10.9.8.0/29", folder.path()});
  // Without rights there is no bridge; addresses are given out all the same.
  if (auto ok = network.start(); !ok) GTEST_SKIP() << ok.error().text();
  auto a = network.allocate("a"), b = network.allocate("b");
  ASSERT_TRUE(a && b);
  EXPECT_NE(a->address, b->address);
  EXPECT_EQ(a->gateway, "10.9.8.1");
  EXPECT_EQ(a->mask, "255.255.255.248");
  EXPECT_EQ(network.allocate("a")->address, a->address);
  for (const char* more : {"c", "d", "e"}) EXPECT_TRUE(network.allocate(more)) << more;
  EXPECT_FALSE(network.allocate("f")) << "five addresses beside the gateway";
  network.release("a");
  EXPECT_TRUE(network.allocate("f"));
  // The next process takes them over; what was half written or written twice goes.
  std::ofstream(folder.path() + "/10.9.8.2.tmp1") << "x";
  std::ofstream(folder.path() + "/10.9.8.77") << "b";
  Network next({"none0", "10.9.8.0/29", folder.path()});
  ASSERT_TRUE(next.start());
  EXPECT_EQ(next.holders(), (std::vector<std::string>{"b", "c", "d", "e", "f"}));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 5);
  for (const char* uid : {"b", "c", "d", "e", "f"}) network.release(uid);
  network.stop();
  Network wrong({"none0", "10.9.8.0", folder.path()});
  EXPECT_FALSE(wrong.start());
}

TEST(Probes, TakeRedirectsForHealthy) {
  EXPECT_TRUE(isHealthyStatus(200) && isHealthyStatus(302) && !isHealthyStatus(404));
}

TEST(StaticPods, AreBoundAndMarked) {
  auto pod =
      staticPod("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: []}", "n1");
  ASSERT_TRUE(pod) << pod.error().text();
  EXPECT_EQ(pod->name, "web-n1");
  EXPECT_EQ(pod->ns, "default");
  EXPECT_EQ(json::Value(pod->body).at("spec").at("nodeName"), "n1");
  EXPECT_EQ(
      json::Value(pod->body).at("metadata").at("annotations").at("kubernetes.io/config.source"),
      "file");
  EXPECT_FALSE(staticPod("kind: Service", "n1"));
  EXPECT_FALSE(staticPod("{", "n1"));
}

TEST(NodeObject, HasWhatSchedulersRead) {
  FakeRoot machine{file("proc/meminfo", "MemTotal:       2048 kB\nMemFree: 1 kB\n"),
                   file("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian 12\"\n")};
  const kernel::SysRoot root = machine.root();
  auto facts = readMachine(root, "/", "n1", "1.2");
  ASSERT_TRUE(facts) << facts.error().text();
  EXPECT_EQ(facts->memory, kMiB * 2);
  EXPECT_EQ(facts->osImage, "Debian 12");
  const WallTime now = *parseTime("2026-03-01T12:00:00Z");
  const json::Value status = nodeStatus(*facts, now, now);
  EXPECT_EQ(status.at("status").at("capacity").at("memory"), "2048Ki");
  EXPECT_EQ(status.at("status").at("conditions").at(3).at("type"), "Ready");
  EXPECT_EQ(
      json::Value(nodeObject(*facts)).at("metadata").at("labels").at("kubernetes.io/hostname"),
      "n1");
}

}  // namespace
}  // namespace mangrove::runtime
