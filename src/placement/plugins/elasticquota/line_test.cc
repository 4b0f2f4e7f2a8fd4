// Pods in line cost nothing until something on their way up changes, and then only as many are
// called as have room.
#include "placement/plugins/elasticquota/line.h"

#include <gmock/gmock.h>

#include "placement/testing/quota_lab.h"

namespace mangrove::placement {
namespace {

using std::chrono::seconds;

struct Blocked : ::testing::Test {
  Blocked() {
    lab.machine("n1", 100);
    lab.quota("full", {.max = 2});
    lab.quota("other", {.max = 4});
    lab.ask("a", "full", 1);
    lab.ask("b", "full", 1);
    for (int i = 0; i < 20; i++) lab.ask("w" + std::to_string(i), "full", 1);
    lab.run();
    lab.lab.takeLog();
  }
  // How many were tried, with or without success, in a second that passes.
  size_t tried() {
    lab.wait(seconds(1));
    lab.run();
    return lab.lab.takeLog().size();
  }
  int placed() const {
    int count = 0;
    for (int i = 0; i < 20; i++) count += !lab.nodeOf("w" + std::to_string(i)).empty();
    return count;
  }
  QuotaLab lab;
};

TEST_F(Blocked, NobodyIsTriedWhileNothingChanges) {
  for (int i = 0; i < 30; i++) EXPECT_EQ(tried(), 0u);
}

// Others are tried again after five minutes whatever happened; these are called.
TEST_F(Blocked, NobodyIsTriedBecauseTimePasses) {
  lab.wait(std::chrono::minutes(20));
  lab.run();
  EXPECT_THAT(lab.lab.takeLog(), ::testing::IsEmpty());
  lab.removePod("a");
  EXPECT_LE(tried(), 2u);
  EXPECT_EQ(placed(), 1);
}

// Only the quota that refuses can make a difference, be it above or below.
TEST(QuotaLine, WhoIsRefusedAboveIsCalledWhenThereIsRoomAbove) {
  QuotaLab lab;
  lab.machine("n1", 100);
  lab.quota("top", {.max = 3, .isParent = true});
  lab.quota("one", {.max = 3, .parent = "top"});
  lab.quota("two", {.max = 3, .parent = "top"});
  for (int i = 0; i < 3; i++) lab.ask("r" + std::to_string(i), "one", 1);
  lab.run();
  for (int i = 0; i < 4; i++) lab.ask("w" + std::to_string(i), "two", 1);
  lab.settle(2);
  lab.lab.takeLog();
  lab.settle(5);
  EXPECT_THAT(lab.lab.takeLog(), ::testing::IsEmpty());
  lab.removePod("r1");
  lab.settle(2);
  EXPECT_EQ(lab.nodeOf("w0"), "n1");
  EXPECT_EQ(lab.nodeOf("w1"), "");
  EXPECT_EQ(lab.used("top"), "3");
}

TEST_F(Blocked, WhatHappensElsewhereWakesNobody) {
  lab.ask("x", "other", 1);
  lab.run();
  lab.removePod("x");
  lab.machine("n2", 50);
  lab.lab.takeLog();
  EXPECT_EQ(tried(), 0u);
}

TEST_F(Blocked, AsManyAreCalledAsHaveRoom) {
  lab.removePod("a");
  EXPECT_LE(tried(), 2u);  // the next one, too, when the first has not sat down yet
  EXPECT_EQ(placed(), 1);
  EXPECT_EQ(lab.nodeOf("w0"), "n1");  // who came first
  lab.quota("full", {.max = 5});
  EXPECT_EQ(tried(), 3u);
  EXPECT_EQ(placed(), 4);
}

// What is said about a pod that was refused comes back as another version of it.
TEST_F(Blocked, AnotherVersionOfAPodKeepsItsTurn) {
  for (int i = 0; i < 20; i++)
    lab.ask("w" + std::to_string(i), "full", 1, {.annotations = R"("seen":"again")"});
  lab.wait(seconds(2));
  lab.run();
  lab.removePod("a");
  lab.wait(seconds(1));
  lab.run();
  EXPECT_EQ(lab.nodeOf("w0"), "n1");
}

TEST_F(Blocked, WhoIsBehindOneThatFindsNoNodeIsCalledNext) {
  lab.ask("picky", "full", 1, {.priority = 9, .labels = R"("x":"y")"});  // first in line
  lab.run();
  lab.lab.removeNode("n1");  // nobody finds a node now
  lab.removePod("a");
  for (int i = 0; i < 5; i++) {
    lab.wait(seconds(1));
    lab.run();
  }
  lab.machine("n1", 100);
  lab.settle();
  EXPECT_EQ(lab.nodeOf("picky"), "n1");
}

// The member that found no room was judged beside its mates: alone it would have room, always.
TEST(QuotaLine, AGangWithoutRoomIsNotTriedEverySecond) {
  QuotaLab lab;
  lab.machine("n1", 100);
  lab.quota("q", {.max = 2});
  for (int i = 0; i < 3; i++) lab.gangMember("g" + std::to_string(i), "q", 1, "g", 3);
  lab.settle(2);
  lab.lab.takeLog();
  lab.wait(seconds(10));
  lab.run();
  EXPECT_THAT(lab.lab.takeLog(), ::testing::IsEmpty());
  lab.quota("q", {.max = 3});
  lab.settle(3);
  for (int i = 0; i < 3; i++) EXPECT_EQ(lab.nodeOf("g" + std::to_string(i)), "n1");
}

TEST(QuotaLine, APodWhoseQuotaAppearsIsJudgedThere) {
  QuotaLab lab({{"defaultQuotaGroupMax", json::Object{{"cpu", "0"}}}});
  lab.machine("n1", 100);
  lab.ask("a", "later", 1);
  lab.run();
  EXPECT_EQ(lab.nodeOf("a"), "");
  lab.quota("later", {.max = 5});
  lab.settle(2);
  EXPECT_EQ(lab.nodeOf("a"), "n1");
  EXPECT_EQ(lab.used("later"), "1");
}

}  // namespace
}  // namespace mangrove::placement
