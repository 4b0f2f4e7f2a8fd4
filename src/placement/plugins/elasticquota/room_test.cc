// Who has to go: for an owner that wants its minimum back, and for a quota that uses too much.
#include "placement/plugins/elasticquota/room.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "placement/testing/quota_lab.h"

namespace mangrove::placement {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

size_t countOf(const std::vector<std::string>& log, std::string_view what) {
  return static_cast<size_t>(std::count_if(log.begin(), log.end(), [&](const std::string& line) {
    return line.find(what) != std::string::npos;
  }));
}

struct Reclaiming : ::testing::Test {
  Reclaiming() {
    lab.machine("n1", 10);
    lab.quota("owner", {.min = 6, .max = 10});
    lab.quota("borrower", {.min = 4, .max = 10});
  }
  // So many pods that the selector names may be disturbed.
  void guard(const std::string& selector, int allowed) {
    auto budget = api::decodeText<api::PodDisruptionBudget>(
        R"({"metadata":{"name":"b","namespace":"default"},"spec":{"selector":)" + selector +
        R"(},"status":{"disruptionsAllowed":)" + std::to_string(allowed) + "}}");
    ASSERT_TRUE(budget) << budget.error().text();
    lab.lab.cluster().budgets.put("default/b",
                                  std::make_shared<api::PodDisruptionBudget>(std::move(*budget)));
  }
  int running(const std::string& prefix, int count) const {
    int out = 0;
    for (int i = 0; i < count; i++) out += lab.isThere(prefix + std::to_string(i));
    return out;
  }
  QuotaLab lab{{{"reclaim", true}}};
};

TEST_F(Reclaiming, AGangGivesMembersItDoesNotNeed) {
  for (int i = 0; i < 10; i++) lab.gangMember("g" + std::to_string(i), "borrower", 1, "g", 6);
  lab.settle(3);
  ASSERT_EQ(lab.used("borrower"), "10");
  lab.ask("mine", "owner", 3);
  lab.settle(4);
  EXPECT_EQ(lab.nodeOf("mine"), "n1");
  EXPECT_EQ(running("g", 10), 7);
}

TEST_F(Reclaiming, AGangGoesWholeWhenItsSurplusDoesNotSuffice) {
  for (int i = 0; i < 5; i++) lab.gangMember("g" + std::to_string(i), "borrower", 1, "g", 4);
  for (int i = 0; i < 5; i++) lab.ask("f" + std::to_string(i), "borrower", 1, 100);
  lab.settle(3);
  ASSERT_EQ(lab.used("borrower"), "10");
  lab.ask("mine", "owner", 2);
  lab.settle(4);
  EXPECT_EQ(lab.nodeOf("mine"), "n1");
  const int members = running("g", 5);
  EXPECT_TRUE(members == 0 || members >= 4) << members << " members of a gang of four are left";
}

// A node that is not quite full, as most are: what the first leaves free beside its own room is no
// reason to look no further for the second.
TEST_F(Reclaiming, TheSecondOwnerDoesNotWaitForTheFirst) {
  for (int i = 0; i < 3; i++) lab.ask("b" + std::to_string(i), "borrower", 3);
  lab.run();
  ASSERT_EQ(lab.used("borrower"), "9");
  lab.lab.keepVictims = true;
  lab.lab.takeLog();
  lab.ask("first", "owner", 3);
  lab.ask("second", "owner", 3);
  lab.run();
  const auto log = lab.lab.takeLog();
  EXPECT_EQ(countOf(log, "preempted by first"), 1u);
  EXPECT_EQ(countOf(log, "preempted by second"), 1u);
}

// The room that is being made belongs to who asked first.
TEST_F(Reclaiming, TwoOwnersCountOnDifferentVictims) {
  for (int i = 0; i < 10; i++) lab.ask("b" + std::to_string(i), "borrower", 1);
  lab.run();
  lab.lab.keepVictims = true;
  lab.lab.takeLog();
  lab.ask("first", "owner", 2);
  lab.ask("second", "owner", 3);
  lab.run();
  const auto log = lab.lab.takeLog();
  EXPECT_EQ(countOf(log, "preempted by first"), 2u);
  EXPECT_EQ(countOf(log, "preempted by second"), 3u);
  for (int i = 0; i < 10; i++)
    EXPECT_LE(countOf(log, "b" + std::to_string(i) + " preempted"), 1u) << i;
}

TEST_F(Reclaiming, WhatIsWithinAMinimumIsNeverTaken) {
  for (int i = 0; i < 4; i++) lab.ask("b" + std::to_string(i), "borrower", 1);
  lab.ask("big", "owner", 6);
  lab.run();
  lab.ask("more", "owner", 1);
  lab.settle(4);
  EXPECT_EQ(lab.nodeOf("more"), "");
  EXPECT_EQ(running("b", 4), 4);
}

TEST_F(Reclaiming, BudgetsAreKept) {
  for (int i = 0; i < 5; i++)
    lab.ask("k" + std::to_string(i), "borrower", 1, {.labels = R"("app":"kept")"});
  for (int i = 0; i < 5; i++) lab.ask("f" + std::to_string(i), "borrower", 1, 100);
  lab.run();
  ASSERT_EQ(lab.used("borrower"), "10");
  guard(R"({"matchLabels":{"app":"kept"}})", 1);
  lab.ask("mine", "owner", 3);
  lab.settle(4);
  EXPECT_EQ(lab.nodeOf("mine"), "n1");
  EXPECT_EQ(running("k", 5), 4) << "less important, and behind a budget of one";
  EXPECT_EQ(running("f", 5), 3);
}

TEST_F(Reclaiming, ABudgetOfEverybodyThatAllowsNothingKeepsEverybody) {
  for (int i = 0; i < 10; i++) lab.ask("b" + std::to_string(i), "borrower", 1);
  lab.run();
  guard("{}", 0);
  lab.ask("mine", "owner", 1);
  lab.settle(4);
  EXPECT_EQ(lab.nodeOf("mine"), "");
  EXPECT_EQ(running("b", 10), 10);
}

TEST_F(Reclaiming, WhatMayNotBePreemptedStays) {
  for (int i = 0; i < 4; i++)
    lab.ask("n" + std::to_string(i), "borrower", 1,
            {.labels = R"("quota.scheduling.koordinator.sh/preemptible":"false")"});
  for (int i = 0; i < 6; i++) lab.ask("f" + std::to_string(i), "borrower", 1, 100);
  lab.run();
  ASSERT_EQ(lab.used("borrower"), "10");
  lab.ask("mine", "owner", 6);
  lab.settle(4);
  EXPECT_EQ(lab.nodeOf("mine"), "n1");
  EXPECT_EQ(running("n", 4), 4);
  EXPECT_EQ(running("f", 6), 0);
}

struct Revoking : ::testing::Test {
  void fill(QuotaLab& lab) {
    lab.machine("n1", 10);
    lab.quota("a", {.min = 0, .max = 10});
    for (int i = 0; i < 10; i++) lab.ask("p" + std::to_string(i), "a", 1, i);
    lab.run();
    lab.quota("a", {.min = 0, .max = 7});  // three too many now
    lab.lab.takeLog();
  }
  static void pass(QuotaLab& lab, int count) {
    for (int i = 0; i < count; i++) {
      lab.lab.engine().report();
      lab.run();
      lab.wait(seconds(1));
    }
  }
  json::Object args(bool reclaim) {
    return {{"monitorAllQuotas", true}, {"reclaim", reclaim}, {"delayEvictTime", "120s"}};
  }
};

TEST_F(Revoking, HappensOnceWhenTheTimeIsOver) {
  for (const bool reclaim : {false, true}) {
    QuotaLab lab(args(reclaim));
    fill(lab);
    pass(lab, 118);
    EXPECT_EQ(countOf(lab.lab.takeLog(), "evicted"), 0u);
    pass(lab, 10);
    const auto log = lab.lab.takeLog();
    EXPECT_EQ(countOf(log, "evicted"), 3u);
    EXPECT_THAT(log, ::testing::Contains(HasSubstr("p0 evicted: quota a uses cpu=10 and may use")));
    EXPECT_EQ(lab.used("a"), "7");
  }
}

TEST_F(Revoking, WhoIsOnItsWayOutIsNotAskedAgain) {
  QuotaLab lab(args(true));
  fill(lab);
  lab.lab.keepVictims = true;
  pass(lab, 400);
  const auto log = lab.lab.takeLog();
  EXPECT_EQ(countOf(log, "evicted"), 3u);
}

TEST_F(Revoking, AGangGivesMembersItDoesNotNeed) {
  QuotaLab lab(args(true));
  lab.machine("n1", 10);
  lab.quota("a", {.min = 0, .max = 10});
  for (int i = 0; i < 8; i++) lab.gangMember("g" + std::to_string(i), "a", 1, "g", 6);
  for (int i = 0; i < 2; i++) lab.ask("f" + std::to_string(i), "a", 1, 100);
  lab.settle(3);
  ASSERT_EQ(lab.used("a"), "10");
  lab.quota("a", {.min = 0, .max = 8});
  pass(lab, 130);
  EXPECT_EQ(lab.used("a"), "8");
  EXPECT_TRUE(lab.isThere("f0") && lab.isThere("f1")) << "two of the gang are enough";
}

TEST_F(Revoking, WhoLeavesOnItsOwnCounts) {
  QuotaLab lab(args(true));
  fill(lab);
  for (const char* name : {"p7", "p8", "p9"}) {
    lab.lab.pod(R"({"metadata":{"name":")" + std::string(name) +
                R"(","deletionTimestamp":"2026-01-02T03:04:05Z","deletionGracePeriodSeconds":900,
                "labels":{"quota.scheduling.koordinator.sh/name":"a"}},
                "spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})");
  }
  pass(lab, 200);
  EXPECT_EQ(countOf(lab.lab.takeLog(), "evicted"), 0u);
  for (const char* name : {"p7", "p8", "p9"}) lab.removePod(name);
  lab.quota("a", {.min = 0, .max = 6});
  pass(lab, 118);
  EXPECT_EQ(countOf(lab.lab.takeLog(), "evicted"), 0u) << "its time begins now";
  pass(lab, 10);
  EXPECT_EQ(countOf(lab.lab.takeLog(), "evicted"), 1u);
}

TEST_F(Revoking, NobodyGoesWhereItWouldNotSuffice) {
  QuotaLab lab(args(true));
  lab.machine("n1", 10);
  lab.quota("a", {.min = 8, .max = 10});
  for (int i = 0; i < 8; i++)
    lab.ask("p" + std::to_string(i), "a", 1,
            {.labels = R"("quota.scheduling.koordinator.sh/preemptible":"false")"});
  lab.ask("q", "a", 1);
  lab.run();
  lab.quota("a", {.min = 0, .max = 3});
  pass(lab, 200);
  EXPECT_TRUE(lab.isThere("q"));
}

}  // namespace
}  // namespace mangrove::placement
