// The desk at work: what it asks the server, whom it lets go, and a real process that gets its
// signal.
#include <csignal>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/checkpoint/desk.h"
#include "agent/qos/evict/task.h"
#include "base/check.h"
#include "base/text/time_text.h"
#include "client/testing/scripted_client.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using std::chrono::seconds;

const WallTime kStart = *parseTime("2026-11-17T15:00:00Z");
constexpr const char* kGroup = "kubepods/besteffort/podu/c";

// A process that waits for its signal.
class Sleeper {
 public:
  Sleeper() : pid_(::fork()) {
    if (pid_ == 0)
      for (;;) ::pause();
  }
  ~Sleeper() {
    if (ended_) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  int pid() const { return pid_; }
  int signalThatEndedIt() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    ended_ = true;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  bool lives() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  pid_t pid_;
  bool ended_ = false;
};

struct Bench {
  kernel::FakeRoot fs;
  VirtualClock clock{kStart};
  client::testing::ScriptedClient api, eventApi;
  Mailbox owner, home;
  client::EventRecorder events{eventApi, home, clock, {}};
  AuditLog audit;
  Registry metrics;
  std::unique_ptr<Machine> machine;
  std::unique_ptr<CheckpointDesk> desk;
  std::shared_ptr<api::Pod> pod;

  Bench() {
    fs.write("sys/devices/system/cpu/online", "0-3\n");
    fs.write("sys/devices/system/cpu/possible", "0-3\n");
    fs.write("sys/devices/system/cpu/cpu0/topology/core_id", "0\n");
    fs.write("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
    fs.write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory\n");
    fs.write(std::string("sys/fs/cgroup/") + kGroup + "/cgroup.procs", "");
    auto opened = Machine::open({.root = fs.path(), .live = false});
    CHECK(opened, "{}", opened.error().text());
    machine = std::move(*opened);
    begin();
    pod = std::make_shared<api::Pod>(*api::decodeText<api::Pod>(
        R"({"metadata":{"name":"p","namespace":"ns","uid":"u","annotations":{)"
        R"("colocation.mangrove.io/checkpoint":"{\"mode\":\"signal\",\"maxSeconds\":60}"}},)"
        R"("spec":{"containers":[{"name":"c"}]},"status":{"phase":"Running"}})"));
  }
  void begin() {
    desk = std::make_unique<CheckpointDesk>(
        CheckpointSetup{api, owner, clock, events, audit, metrics, *machine, nullptr});
  }
  bool mayGo(std::string_view feature = feature::kBeCpu) {
    return desk->mayGo({pod, feature, "", 0});
  }
  // What the server has after the patch that waits.
  void accept() {
    const auto patch = json::parse(api.next().body);
    CHECK(patch, "{}", patch.error().text());
    const auto& said = patch->at("metadata").at("annotations").as_object();
    for (const auto& one : said)
      pod->meta.annotations.set(std::string_view(one.key()),
                                std::string_view(one.value().as_string()));
    api.reply(200, "{}");
    owner.drain();
  }
  void carry() {
    ContainerLook container;
    container.name = "c";
    container.cgroup = kGroup;
    PodLook one;
    one.pod = pod;
    one.containers = std::span(&container, 1);
    Look look;
    look.wall = clock.wall();
    look.pods = std::span(&one, 1);
    desk->carry(look);
  }
  void hold(const Sleeper& main, const Sleeper& child) {
    fs.write(std::string("sys/fs/cgroup/") + kGroup + "/cgroup.procs",
             fmt::format("{}\n{}\n", main.pid(), child.pid()));
    fs.write(fmt::format("proc/{}/stat", main.pid()),
             fmt::format("{} (job) S 1 1 1\n", main.pid()));
    fs.write(fmt::format("proc/{}/stat", child.pid()),
             fmt::format("{} (child) S {} 1 1\n", child.pid(), main.pid()));
  }
};

TEST(CheckpointDesk, AsksOnceWaitsAndLetsGoWhoHasSaved) {
  Bench bench;
  EXPECT_FALSE(bench.mayGo());
  ASSERT_EQ(bench.api.pending.size(), 1u);
  EXPECT_FALSE(bench.mayGo());
  EXPECT_EQ(bench.api.pending.size(), 1u) << "asked once";
  bench.accept();
  EXPECT_FALSE(bench.mayGo()) << "it is waited for";
  EXPECT_TRUE(bench.api.pending.empty());
  bench.clock.advance(seconds(20));
  bench.pod->meta.annotations.set(api::annotation::kCheckpointLast, "2026-11-17T15:00:15Z");
  EXPECT_TRUE(bench.mayGo());
}

TEST(CheckpointDesk, ServicesInsistWhenTheTimeIsOver) {
  Bench bench;
  bench.mayGo();
  bench.accept();
  bench.clock.advance(seconds(59));
  EXPECT_FALSE(bench.mayGo());
  bench.clock.advance(seconds(2));
  EXPECT_TRUE(bench.mayGo());
}

TEST(CheckpointDesk, NobodyWaitsWhereMemoryRunsOutOrNothingIsSaid) {
  Bench bench;
  EXPECT_TRUE(bench.mayGo(feature::kBeMemory));
  bench.pod->meta.annotations = {};
  EXPECT_TRUE(bench.mayGo());
  EXPECT_TRUE(bench.api.pending.empty());
}

TEST(CheckpointDesk, AServerThatRefusesIsAskedAgain) {
  Bench bench;
  bench.mayGo();
  bench.api.reply(403, R"({"kind":"Status","code":403,"message":"no"})");
  bench.owner.drain();
  EXPECT_FALSE(bench.mayGo());
  EXPECT_EQ(bench.api.pending.size(), 1u);
}

TEST(CheckpointDesk, TheMainProcessGetsTheSignalAndItsChildDoesNot) {
  Bench bench;
  Sleeper main, child;
  bench.hold(main, child);
  bench.mayGo();
  bench.accept();
  bench.carry();
  EXPECT_EQ(main.signalThatEndedIt(), SIGUSR1);
  EXPECT_TRUE(child.lives());
}

TEST(CheckpointDesk, ASuccessorCarriesARequestAgain) {
  Bench bench;
  Sleeper first, second, child;
  bench.hold(first, child);
  bench.mayGo();
  bench.accept();
  bench.carry();
  EXPECT_EQ(first.signalThatEndedIt(), SIGUSR1);
  bench.hold(second, child);
  bench.carry();
  EXPECT_TRUE(second.lives()) << "once for each request";
  bench.begin();  // another agent
  bench.carry();
  EXPECT_EQ(second.signalThatEndedIt(), SIGUSR1);
}

}  // namespace
}  // namespace mangrove::agent
