// Reservations count in the quota of their template for what owners have not taken.
#include <gmock/gmock.h>

#include "placement/testing/quota_lab.h"

namespace mangrove::placement {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

struct Reserved : ::testing::Test {
  Reserved() {
    lab.machine("n1", 20);
    lab.machine("n2", 20);
    lab.quota("q", {.max = 10});
    lab.quota("other", {.max = 10});
  }
  // Room for pods with the label app=x, many of them.
  void reserve(const std::string& name, const std::string& quota, int cpu,
               const std::string& more = R"(,"allocateOnce":false)") {
    lab.lab.reservation(
        R"({"metadata":{"name":")" + name +
        R"("},"spec":{"owners":[{"labelSelector":{"matchLabels":{"app":"x"}}}],"template":{"metadata":{"labels":{"quota.scheduling.koordinator.sh/name":")" +
        quota + R"("}},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":")" +
        std::to_string(cpu) + R"("}}}]}})" + more + "}}");
    lab.run();
  }
  void own(const std::string& name, const std::string& quota, int cpu) {
    lab.ask(name, quota, cpu, {.labels = R"("app":"x")"});
    lab.run();
  }
  std::string nodeOfReservation(const std::string& name) const {
    return lab.lab.findReservation(name)->status.nodeName;
  }
  QuotaLab lab;
};

TEST_F(Reserved, WhatIsReservedIsUsed) {
  reserve("r", "q", 6);
  EXPECT_NE(nodeOfReservation("r"), "");
  EXPECT_EQ(lab.used("q"), "6");
  lab.ask("stranger", "q", 5);
  lab.run();
  EXPECT_EQ(lab.nodeOf("stranger"), "");
  EXPECT_THAT(lab.said("stranger"), HasSubstr("quotaName: q"));
}

TEST_F(Reserved, WhatOwnersHaveNotTakenIsShownApart) {
  reserve("r", "q", 6);
  own("a", "q", 4);
  json::Value page = lab.page("quotas/q");
  EXPECT_EQ(page.at("used").at("cpu"), "6");
  EXPECT_EQ(page.at("reserved").at("cpu"), "2");
  EXPECT_EQ(page.at("podsRunning"), 1) << "a reservation is no pod";
  EXPECT_TRUE(lab.page("quotas/other").at("reserved").as_object().empty());
}

TEST_F(Reserved, AQuotaWithoutRoomRefusesTheReservation) {
  lab.ask("a", "q", 5);
  lab.run();
  reserve("r", "q", 6);
  EXPECT_EQ(nodeOfReservation("r"), "");
  EXPECT_EQ(lab.used("q"), "5");
  lab.removePod("a");
  lab.settle(2);
  EXPECT_NE(nodeOfReservation("r"), "");
  EXPECT_EQ(lab.used("q"), "6");
}

TEST_F(Reserved, AnOwnerTakesItsPartOfTheCharge) {
  reserve("r", "q", 10);
  own("a", "q", 4);
  EXPECT_EQ(lab.nodeOf("a"), nodeOfReservation("r")) << lab.said("a");
  EXPECT_EQ(lab.used("q"), "10");
  own("b", "q", 6);
  EXPECT_EQ(lab.nodeOf("b"), nodeOfReservation("r")) << lab.said("b");
  EXPECT_EQ(lab.used("q"), "10");
  own("c", "q", 1);
  EXPECT_EQ(lab.nodeOf("c"), "") << "nothing is left of it";
  lab.removePod("a");
  EXPECT_EQ(lab.used("q"), "10") << "the reservation holds it again";
}

TEST_F(Reserved, AnOwnerOfAnotherQuotaIsChargedThere) {
  reserve("r", "q", 8);
  own("a", "other", 3);
  EXPECT_EQ(lab.nodeOf("a"), nodeOfReservation("r")) << lab.said("a");
  EXPECT_EQ(lab.used("q"), "5");
  EXPECT_EQ(lab.used("other"), "3");
}

TEST_F(Reserved, WhoHasRoomInsideOnlyDoesNotStartOutside) {
  reserve("r", "q", 10);
  lab.lab.pod(
      R"({"metadata":{"name":"a","labels":{"app":"x","quota.scheduling.koordinator.sh/name":"q"}},
          "spec":{"nodeSelector":{"kubernetes.io/hostname":"elsewhere"},"containers":[{"name":"c",
            "resources":{"requests":{"cpu":"2"}}}]}})");
  lab.lab.node(
      R"({"metadata":{"name":"n3","labels":{"kubernetes.io/hostname":"elsewhere"}},
          "status":{"allocatable":{"cpu":"20","pods":"110"}}})");
  lab.settle(3);
  EXPECT_EQ(lab.nodeOf("a"), "");
  EXPECT_THAT(lab.said("a"), HasSubstr("inside of a reservation only"));
  EXPECT_EQ(lab.used("q"), "10");
}

TEST_F(Reserved, WhatEndsGivesBack) {
  reserve("r", "q", 8, R"(,"allocateOnce":false,"ttl":"30s")");
  lab.ask("waits", "q", 5);
  lab.run();
  EXPECT_EQ(lab.nodeOf("waits"), "");
  for (int i = 0; i < 90; i++) {
    lab.wait(seconds(1));
    lab.lab.engine().report();
    lab.run();
  }
  EXPECT_NE(lab.nodeOf("waits"), "");
  EXPECT_EQ(lab.used("q"), "5");
}

TEST_F(Reserved, OneForASingleOwnerCountsForNothingOnceItHasHim) {
  reserve("r", "q", 8, "");
  own("a", "q", 3);
  lab.settle(2);
  EXPECT_EQ(lab.nodeOf("a"), nodeOfReservation("r")) << lab.said("a");
  EXPECT_EQ(lab.used("q"), "3");
}

TEST_F(Reserved, ABindingThatFailsGivesTheChargeBack) {
  reserve("r", "q", 10);
  lab.lab.refuseBindings = true;
  own("a", "q", 4);
  EXPECT_EQ(lab.used("q"), "10");
  lab.lab.refuseBindings = false;
  lab.settle(25);
  EXPECT_EQ(lab.nodeOf("a"), nodeOfReservation("r")) << lab.said("a");
  EXPECT_EQ(lab.used("q"), "10");
}

}  // namespace
}  // namespace mangrove::placement
