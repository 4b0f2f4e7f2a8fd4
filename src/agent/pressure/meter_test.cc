#include "agent/pressure/meter.h"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using std::chrono::milliseconds;

// Services made of files: what each waited and was throttled so far, in milliseconds.
struct Stage {
  kernel::FakeRoot fs;
  kernel::SysRoot root{fs.path()};
  PressureMeter meter;
  MonoTime now{std::chrono::hours(1)};

  void waits(const std::string& dir, int64_t ms) {
    fs.write(dir + "/cpu.pressure",
             fmt::format("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n", ms * 1000));
  }
  void throttled(const std::string& dir, int64_t ms) {
    fs.write(dir + "/cpu.stat",
             fmt::format("nr_periods 1\nnr_throttled 1\nthrottled_time {}\n", ms * 1'000'000));
  }
  std::map<std::string, double> read(Duration after) {
    now += after;
    std::map<std::string, double> out;
    for (const ServiceWait& one : meter.read(now, false)) out[meter.nameOf(one.id)] = one.waited;
    return out;
  }
};

TEST(PressureMeter, TakesOffWhatItsOwnQuotaTook) {
  Stage stage;
  for (const char* dir : {"own", "healthy", "sufferer"})
    stage.waits(dir, 0), stage.throttled(dir, 0);
  stage.meter.follow(stage.root, {.services = {{"own", {"own/cpu.stat"}},
                                               {"healthy", {"healthy/cpu.stat"}},
                                               {"sufferer", {"sufferer/cpu.stat"}}}});
  stage.read(milliseconds(50));
  stage.waits("own", 100), stage.throttled("own", 100);
  stage.waits("sufferer", 60);
  const auto seen = stage.read(milliseconds(100));
  EXPECT_DOUBLE_EQ(seen.at("own"), 0);
  EXPECT_DOUBLE_EQ(seen.at("healthy"), 0);
  EXPECT_DOUBLE_EQ(seen.at("sufferer"), 0.6);
  stage.waits("own", 200), stage.throttled("own", 150);
  EXPECT_DOUBLE_EQ(stage.read(milliseconds(100)).at("own"), 0.5) << "what is left is others' doing";
}

// While the gate is calm nobody behind it is read; what is waited afterwards counts whole.
TEST(PressureMeter, ReadsServicesWhenTheirGateIsNotCalm) {
  Stage stage;
  stage.waits("all", 0), stage.waits("all/a", 0), stage.waits("alone", 0);
  stage.meter.follow(stage.root, {.services = {{"all/a", {}, true}, {"alone"}}, .gates = {"all"}});
  stage.read(milliseconds(50));
  for (int i = 0; i < 20; ++i) stage.read(milliseconds(50));
  stage.waits("all/a", 30), stage.waits("alone", 25);
  auto seen = stage.read(milliseconds(50));
  EXPECT_DOUBLE_EQ(seen.at("all/a"), 0) << "its gate says nobody waits";
  EXPECT_DOUBLE_EQ(seen.at("alone"), 0.5);
  stage.waits("all", 40), stage.waits("all/a", 70);
  seen = stage.read(milliseconds(50));
  EXPECT_GE(seen.at("all/a"), 0.8) << "not spread over the second before";
}

TEST(PressureMeter, ARemovedServiceIsForgotten) {
  Stage stage;
  stage.waits("a", 0), stage.waits("b", 0);
  stage.meter.follow(stage.root, {.services = {{"a"}, {"b"}}});
  stage.read(milliseconds(50));
  stage.meter.follow(stage.root, {.services = {{"b"}}});
  EXPECT_EQ(stage.read(milliseconds(50)).size(), 1u);
}

// Where the kernel counts no groups, the machine's own pressure; without that, CPUs without work.
TEST(PressureMeter, FallsBackToTheMachine) {
  Stage stage;
  stage.fs.write("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  stage.fs.write("proc/stat", "cpu  100 0 0 1000 0 0 0 0 0 0\n");
  WatchedFiles files{.services = {{"none"}}, .nodePressure = "proc/pressure/cpu", .cpus = 2};
  stage.meter.follow(stage.root, files);
  stage.read(milliseconds(50));
  EXPECT_EQ(stage.meter.source(), "node");
  stage.fs.write("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=50000\n");
  EXPECT_DOUBLE_EQ(stage.read(milliseconds(100)).at("the machine"), 0.5);

  Stage bare;
  bare.fs.write("proc/stat", "cpu  100 0 0 1000 0 0 0 0 0 0\n");
  bare.meter.follow(bare.root, {.services = {{"none"}}, .nodeStat = "proc/stat", .cpus = 2});
  bare.read(milliseconds(50));
  EXPECT_EQ(bare.meter.source(), "idle");
  bare.fs.write("proc/stat", "cpu  150 0 0 1000 0 0 0 0 0 0\n");  // half a core of two
  EXPECT_DOUBLE_EQ(bare.read(std::chrono::seconds(1)).at("the machine"), 0);
  bare.fs.write("proc/stat", "cpu  350 0 0 1000 0 0 0 0 0 0\n");  // both
  EXPECT_DOUBLE_EQ(bare.read(std::chrono::seconds(1)).at("the machine"), 1);
}

}  // namespace
}  // namespace mangrove::agent
