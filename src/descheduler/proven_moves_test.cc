// Moves that are proven beforehand: by the scheduler's own rules, with all moves of the plan made.
#include "descheduler/testing/proven_cluster.h"

namespace mangrove::descheduler {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
namespace kind = client::kind;

class ProvenMoves : public testing::ProvenCluster {};

TEST_F(ProvenMoves, TheSameHoleIsPromisedOnce) {  // T-CR-14
  machine("hot", "16");
  machine("other", "16");
  machine("roomy", "16");
  for (const char* pod : {"a", "b", "c"}) guest({pod, "hot", "4"});
  guest({"filler-1", "other", "15"});
  guest({"filler-2", "roomy", "10"});                           // 6 cores are left
  uses("hot", {{"a", 3900}, {"b", 3900}, {"c", 3900}}, 12000);  // three would have to go
  uses("other", {{"filler-1", 100}});
  uses("roomy", {{"filler-2", 100}});
  prove();
  const auto moves = planned(1);
  ASSERT_EQ(moves.size(), 1U) << ::testing::PrintToString(moves)
                              << ::testing::PrintToString(descheduler->journal().refused());
  EXPECT_THAT(moves[0], HasSubstr("to roomy"));
}

TEST_F(ProvenMoves, TheReservationIsForTheProvenNode) {
  machine("hot", "8");
  machine("cold", "8");
  guest({"a", "hot", "2"});
  uses("hot", {{"a", 2000}}, 5000);
  uses("cold", {});
  prove();
  ASSERT_TRUE(until([&] { return reservations() == 1; }));
  const std::string text = api.truth(kind::kReservation).begin()->second;
  EXPECT_THAT(text, HasSubstr(R"({"key":"metadata.name","operator":"In","values":["cold"]})"));
}

// Rules that the quick fit does not know: only the scheduler's own filters do.
TEST_F(ProvenMoves, AntiAffinityAndSpreadAreAsked) {
  machine("hot", "8");
  machine("taken", "8");
  machine("free", "8");
  const std::string apart =
      R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
         {"labelSelector":{"matchLabels":{"app":"web"}},"topologyKey":"kubernetes.io/hostname"}]}},)";
  guest({"a", "hot", "1", "koord-scheduler", apart});
  guest({"b", "taken", "1", "koord-scheduler", apart});
  uses("hot", {{"a", 2000}}, 5000);
  uses("taken", {{"b", 100}});
  uses("free", {}, 1000);
  prove();
  EXPECT_THAT(planned(1), UnorderedElementsAre("a to free"));
}

// The scheduler's core keeps what it knew of a node whose report changes nothing for it.
TEST_F(ProvenMoves, ANodeThatSentASignOfLifeIsATargetStill) {
  machine("hot", "8");
  machine("cold", "8");
  guest({"a", "hot", "1"});
  uses("hot", {{"a", 3000}}, 4000);
  uses("cold", {}, 5000);
  prove();
  EXPECT_TRUE(planned().empty()) << "there is no cold node";
  machine("hot", "8");
  machine("cold", "8");
  uses("cold", {}, 100);
  EXPECT_THAT(planned(1), UnorderedElementsAre("a to cold"));
}

TEST_F(ProvenMoves, ATargetStaysBelowItsBound) {
  machine("hot", "8");
  machine("cold", "8");  // 6000 of 8000 is its bound
  guest({"a", "hot", "1"});
  uses("hot", {{"a", 3000}}, 4000);
  uses("cold", {}, 3400);
  prove();
  EXPECT_TRUE(planned().empty()) << "3400 + 3000 is above 75 %";
  uses("cold", {}, 2900);
  until([&, looks = 0]() mutable { return ++looks > 10; });
  EXPECT_THAT(planned(1), UnorderedElementsAre("a to cold"));
}

// What a pod took at its peak within the hour is what a target must bear.
TEST_F(ProvenMoves, APodThatRestsCountsAsItWorked) {
  machine("hot", "8");
  machine("cold", "8");
  guest({"a", "hot", "1"});
  uses("hot", {{"a", 5000}}, 500);
  uses("cold", {}, 2000);
  prove();
  ASSERT_TRUE(planned().empty()) << "not hot";
  clock.advance(10min);
  uses("hot", {{"a", 300}}, 6000);
  uses("cold", {}, 2000);
  until([&, looks = 0]() mutable { return ++looks > 20; }, 1ms);
  EXPECT_TRUE(planned().empty()) << "2000 + 5000 is above 75 %";
  clock.advance(61min);
  uses("hot", {{"a", 300}}, 6000);
  uses("cold", {}, 2000);
  until([&, looks = 0]() mutable { return ++looks > 20; }, 1ms);
  EXPECT_THAT(planned(1), UnorderedElementsAre("a to cold"));
}

TEST_F(ProvenMoves, WhoTakesNothingOfWhatIsTooMuchStays) {
  machine("hot", "8");
  machine("cold", "8");
  guest({"idle", "hot", "1"});
  uses("hot", {{"idle", 0}}, 7000);
  uses("cold", {});
  prove();
  EXPECT_TRUE(planned().empty());
}

TEST_F(ProvenMoves, PodsOfForeignSchedulersAreNeverProven) {
  machine("hot", "8");
  machine("cold", "8");
  guest({"a", "hot", "1", "volcano"});
  uses("hot", {{"a", 3000}}, 4000);
  uses("cold", {});
  prove("", "EvictDirectly");
  EXPECT_TRUE(planned().empty());
}

TEST_F(ProvenMoves, NamesOfOneSchedulerAreOneJudge) {
  machine("hot", "8");
  machine("cold", "8");
  guest({"a", "hot", "1", "default-scheduler"});
  uses("hot", {{"a", 2000}}, 5000);
  uses("cold", {});
  startWith(R"({
      "apiVersion":"descheduler/v1alpha2","kind":"DeschedulerConfiguration","deschedulingInterval":"10s",
      "profiles":[{"name":"one","plugins":{"balance":{"enabled":[{"name":"LowNodeLoad"}]}},"pluginConfig":[
        {"name":"LowNodeLoad","args":{"lowThresholds":{"cpu":45},"highThresholds":{"cpu":75},
                                      "anomalyCondition":{"consecutiveAbnormalities":1}}},
        {"name":"MigrationController","args":{"provenMoves":true,
          "schedulerNames":["koord-scheduler","default-scheduler"]}}]}]})",
            placement::defaultConfig({"koord-scheduler", "default-scheduler"}));
  EXPECT_THAT(planned(1), UnorderedElementsAre("a to cold"));
}

TEST_F(ProvenMoves, NobodyIsMovedTwiceWithinAnHourUnlessItsNodeFails) {
  machine("hot", "8");
  machine("cold", "8");
  const auto moved = [&](Duration ago) {
    return fmt::format(
        R"("descheduler.mangrove.io/moved-at":"{}")",
        formatTime(clock.wall() - std::chrono::duration_cast<std::chrono::seconds>(ago)));
  };
  guest({"a", "hot", "1", "koord-scheduler", "", moved(59min)});
  uses("hot", {{"a", 3000}}, 4000);
  uses("cold", {});
  prove();
  EXPECT_TRUE(planned().empty());
  EXPECT_THAT(whyNot("a"), HasSubstr("nobody is moved twice within an hour"));
  guest({"a", "hot", "1", "koord-scheduler", "", moved(61min)});
  until([&, looks = 0]() mutable { return ++looks > 10; });
  EXPECT_THAT(planned(1), UnorderedElementsAre("a to cold"));
}

TEST_F(ProvenMoves, AMovedPodShowsItAndItsAccountIsKept) {
  machine("hot", "8");
  machine("cold", "8");
  guest({"a", "hot", "2"});
  uses("hot", {{"a", 2000}}, 5000);
  uses("cold", {});
  prove();
  ASSERT_TRUE(until([&] { return reservations() == 1 && phase() == "Running"; }));
  reservationIs("Available", "cold");
  ASSERT_TRUE(until([&] { return !hasPod("a"); }));
  guest({"a-new", "cold", "2"});
  reservationIs("Succeeded", "cold", "a-new");
  ASSERT_TRUE(until([&] { return phase() == "Succeeded"; }));
  // Two minutes later both nodes are measured, and the account is closed.
  clock.advance(130s);
  uses("hot", {}, 5000);
  uses("cold", {{"a-new", 2000}});
  ASSERT_TRUE(until(
      [&] {
        const auto account = accountOf(jobs()[0].status);
        return account && account->after && account->paid;
      },
      1s));
  EXPECT_NEAR(accountOf(jobs()[0].status)->before.source.cpu, 87.5, 0.1);
  EXPECT_NEAR(accountOf(jobs()[0].status)->after->target.cpu, 25, 0.1);
  ASSERT_TRUE(until([&] {
    return api.truth(kind::kPod).at("d/a-new").find("descheduler.mangrove.io/moved-at") !=
           std::string::npos;
  }));
}

TEST_F(ProvenMoves, UnplaceableBatchPodsGoOnlyWhereThatIsAllowed) {
  machine("hot", "8");
  machine("full", "8");
  const std::string batch = R"(,"koordinator.sh/priority-class":"koord-batch")";
  guest({"a", "hot", "2", "koord-scheduler", "", "", batch});
  guest({"b", "hot", "2", "koord-scheduler", "", "", batch});
  guest({"prod", "hot", "2"});
  guest({"filler", "full", "7"});
  uses("hot", {{"a", 2000}, {"b", 2000}, {"prod", 2000}}, 1500);
  uses("full", {{"filler", 100}});
  prove(R"(,"evictUnplaceable":true)");
  const auto moves = planned(1);
  ASSERT_EQ(moves.size(), 1U) << "one of a workload at a time, and nobody of prod";
  EXPECT_THAT(moves[0], HasSubstr("nowhere known"));
  EXPECT_EQ(jobs()[0].spec.mode, "EvictDirectly");
  EXPECT_EQ(jobs()[0].meta.annotations.get("descheduler.mangrove.io/unplaceable"), "true");
  EXPECT_THAT(metrics.exposition(),
              HasSubstr(R"(descheduler_moves_total{basis="unplaceable",mode="EvictDirectly"} 1)"));
}

TEST_F(ProvenMoves, WithoutPermissionWhatLandsNowhereStays) {
  machine("hot", "8");
  machine("full", "8");
  guest({"a", "hot", "2", "koord-scheduler", "", "",
         R"(,"koordinator.sh/priority-class":"koord-batch")"});
  guest({"filler", "full", "7"});
  uses("hot", {{"a", 2000}}, 5500);
  uses("full", {{"filler", 100}});
  prove();
  EXPECT_TRUE(planned().empty());
}

}  // namespace
}  // namespace mangrove::descheduler
