#include "agent/pressure/sentinel.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using std::chrono::milliseconds;

// A machine made of files: services' stall and best-effort work's usage go on as told.
struct Stage {
  kernel::FakeRoot fs;
  kernel::SysRoot root{fs.path()};
  VirtualClock clock;
  std::vector<Cut> cuts;
  Sentinel sentinel{root, clock, {.onCut = [this](const Cut& cut) { cuts.push_back(cut); }}};
  double waited = 0, used = 0;  // of the time; cores
  Duration stall{}, usage{};

  Stage() {
    files();
    fs.write("be/quota", "-1\n");
    order(false);
  }
  void order(bool dryRun) {
    SentinelOrders orders;
    orders.watch.services = {"ls", "not-there"};
    orders.quotaFile = "be/quota";
    orders.usageFile = "be/usage";
    orders.governor.machine = 200'000;
    orders.dryRun = dryRun;
    sentinel.order(orders);
  }
  void files() {
    fs.write("ls/cpu.pressure", fmt::format("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n",
                                            stall / std::chrono::microseconds(1)));
    fs.write("be/usage", fmt::format("{}\n", usage.count()));
  }
  Duration pass(Duration by) {
    stall += Duration(static_cast<int64_t>(static_cast<double>(by.count()) * waited));
    usage += Duration(static_cast<int64_t>(static_cast<double>(by.count()) * used));
    files();
    clock.advance(by);
    return sentinel.turn(false);
  }
  void turns(int count) {
    for (int i = 0; i < count; ++i) pass(milliseconds(25));
  }
};

TEST(Sentinel, CutsWhenServicesWait) {
  Stage stage;
  stage.used = 1.8;
  stage.turns(10);
  EXPECT_EQ(stage.fs.read("be/quota"), "-1\n");
  stage.waited = 0.9;
  stage.turns(2);
  ASSERT_EQ(stage.cuts.size(), 1u);
  EXPECT_EQ(stage.cuts[0].from, kUnlimited);
  EXPECT_EQ(stage.cuts[0].group, "ls");
  EXPECT_EQ(stage.cuts[0].trouble, "");
  EXPECT_EQ(stage.fs.read("be/quota"), std::to_string(stage.sentinel.cap()));
  EXPECT_EQ(stage.sentinel.status().mode, "poll");
  EXPECT_EQ(stage.sentinel.status().groups, 1u);
  // While a limit is in force it looks twice as often.
  EXPECT_EQ(stage.pass(milliseconds(25)), milliseconds(25));
}

TEST(Sentinel, KeepsItsCutWhenSomebodyWidens) {
  Stage stage;
  stage.used = 1.8, stage.waited = 0.9;
  stage.turns(3);
  const std::string cut = std::to_string(stage.sentinel.cap());
  stage.used = 0.02, stage.waited = 0;
  stage.fs.write("be/quota", "190000\n");
  stage.turns(1);
  EXPECT_EQ(stage.fs.read("be/quota"), cut);
  EXPECT_EQ(stage.sentinel.status().repaired, 1u);
  // Growing is not its business: the cap grows, the file stays.
  stage.turns(4 * 30);
  EXPECT_GT(stage.sentinel.cap(), 2000);
  EXPECT_EQ(stage.fs.read("be/quota"), cut);
}

TEST(Sentinel, OnlySaysSoInADryRun) {
  Stage stage;
  stage.order(true);
  stage.used = 1.8, stage.waited = 0.9;
  stage.turns(3);
  EXPECT_FALSE(stage.cuts.empty());
  EXPECT_EQ(stage.fs.read("be/quota"), "-1\n");
}

TEST(Sentinel, LeavesALowerLimitAlone) {
  Stage stage;
  stage.fs.write("be/quota", "1500\n");
  stage.used = 1.8, stage.waited = 0.9;
  stage.turns(3);
  EXPECT_EQ(stage.fs.read("be/quota"), "1500\n");
}

TEST(Sentinel, RestsAndForgets) {
  Stage stage;
  stage.used = 1.8, stage.waited = 0.9;
  stage.turns(3);
  stage.sentinel.rest();
  EXPECT_EQ(stage.sentinel.cap(), kUnlimited);
  stage.turns(1);
  EXPECT_EQ(stage.sentinel.status().mode, "resting");
  stage.order(false);
  stage.waited = 0;
  stage.turns(5);
  EXPECT_EQ(stage.sentinel.cap(), kUnlimited);
}

TEST(Sentinel, SaysThatItIsBlind) {
  Stage stage;
  SentinelOrders nowhere;
  nowhere.watch.services = {"not-there"};
  nowhere.quotaFile = "be/quota";
  nowhere.usageFile = "be/usage";
  stage.sentinel.order(nowhere);
  stage.turns(2);
  EXPECT_EQ(stage.sentinel.status().mode, "blind");
}

}  // namespace
}  // namespace mangrove::agent
