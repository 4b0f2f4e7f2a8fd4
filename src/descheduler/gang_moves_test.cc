// Gangs move whole or not at all; a member that its gang can spare moves as anybody else.
#include <algorithm>
#include <set>

#include "descheduler/testing/proven_cluster.h"

namespace mangrove::descheduler {
namespace {

namespace kind = client::kind;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class GangMoves : public testing::ProvenCluster {
 protected:
  GangMoves() {
    machine("hot", "8");
    machine("mid", "8");
    machine("cold-1", "8");
    machine("cold-2", "8");
    uses("mid", {}, 4500);  // neither hot nor low: no target
    uses("cold-1", {});
    uses("cold-2", {});
  }
  void member(const std::string& name, const std::string& on, const std::string& cpu, int min,
              const std::string& more = "") {
    guest({name, on, cpu, "koord-scheduler", "",
           fmt::format(R"("gang.scheduling.koordinator.sh/name":"g",
                          "gang.scheduling.koordinator.sh/min-available":"{}"{})",
                       min, more)});
  }
  std::string reservationOf(const api::PodMigrationJob& job) const {
    return job.spec.reservationOptions && job.spec.reservationOptions->reservationRef
               ? job.spec.reservationOptions->reservationRef->name
               : "";
  }
  bool allReserved() const {
    const auto all = jobs();
    return !all.empty() && std::all_of(all.begin(), all.end(), [&](const auto& job) {
      return !reservationOf(job).empty();
    });
  }
  // The scheduler gives the reservation its node.
  void available(const api::PodMigrationJob& job) {
    const std::string name = reservationOf(job);
    json::Value object = *json::parse(api.truth(kind::kReservation).at(name));
    object.as_object()["status"] = *json::parse(fmt::format(
        R"({{"phase":"Available","nodeName":"{}","conditions":[{{"type":"Scheduled","status":"True"}}]}})",
        job.meta.annotations.get("descheduler.mangrove.io/target").value_or("")));
    api.put(kind::kReservation, "", name, json::write(object));
  }
  void settle() {
    until([&, looks = 0]() mutable { return ++looks > 30; });
  }
};

TEST_F(GangMoves, WhoIsNeededMovesWithAllTheOthers) {
  member("g-0", "hot", "2", 3);
  member("g-1", "hot", "2", 3);
  member("g-2", "mid", "2", 3);
  uses("hot", {{"g-0", 2000}, {"g-1", 2000}}, 4000);
  prove();
  const auto moves = planned(3);
  ASSERT_EQ(moves.size(), 3U) << ::testing::PrintToString(moves)
                              << ::testing::PrintToString(descheduler->journal().refused());
  std::set<std::string> marks;
  for (const auto& job : jobs()) {
    marks.emplace(job.meta.annotations.get("descheduler.mangrove.io/together").value_or(""));
    EXPECT_EQ(job.meta.annotations.get("descheduler.mangrove.io/together-size"), "3");
    EXPECT_THAT(job.meta.annotations.get("descheduler.mangrove.io/target").value_or(""),
                ::testing::StartsWith("cold"));
  }
  EXPECT_EQ(marks.size(), 1U);
}

TEST_F(GangMoves, NobodyLeavesBeforeEveryPlaceIsKept) {
  member("g-0", "hot", "2", 2);
  member("g-1", "hot", "2", 2);
  uses("hot", {{"g-0", 2000}, {"g-1", 2000}}, 4000);
  prove();
  ASSERT_TRUE(until([&] { return jobs().size() == 2 && allReserved(); }));
  available(jobs()[0]);
  settle();
  EXPECT_TRUE(hasPod("g-0") && hasPod("g-1")) << "one place is kept, the other is not";
  available(jobs()[1]);
  EXPECT_TRUE(until([&] { return !hasPod("g-0") && !hasPod("g-1"); }));
}

TEST_F(GangMoves, WhoseCompanionFailsStays) {
  member("g-0", "hot", "2", 2);
  member("g-1", "hot", "2", 2);
  uses("hot", {{"g-0", 2000}, {"g-1", 2000}}, 4000);
  prove();
  ASSERT_TRUE(until([&] { return jobs().size() == 2 && allReserved(); }));
  const auto all = jobs();
  api::PodMigrationJob stopped = all[0];
  json::Value object = *json::parse(api.truth(kind::kPodMigrationJob).at(all[0].meta.name.str()));
  object.as_object()["status"].as_object()["phase"] = "Aborted";
  api.put(kind::kPodMigrationJob, "", all[0].meta.name.str(), json::write(object));
  available(all[1]);
  ASSERT_TRUE(until([&] { return jobs()[1].status.phase == "Failed"; }));
  EXPECT_EQ(jobs()[1].status.reason, "CompanionFailed");
  EXPECT_TRUE(hasPod("g-0") && hasPod("g-1"));
}

TEST_F(GangMoves, WithoutRoomForAllNobodyMoves) {
  member("g-0", "hot", "4", 3);
  member("g-1", "hot", "2", 3);
  member("g-2", "mid", "8", 3);  // fits on no node beside another member
  guest({"filler-1", "cold-1", "3"});
  guest({"filler-2", "cold-2", "3"});
  uses("hot", {{"g-0", 2000}, {"g-1", 2000}}, 4000);
  uses("cold-1", {{"filler-1", 100}});
  uses("cold-2", {{"filler-2", 100}});
  prove();
  EXPECT_THAT(planned(), IsEmpty());
}

TEST_F(GangMoves, WhoCanBeSparedMovesAlone) {
  member("g-0", "hot", "2", 2);
  member("g-1", "mid", "2", 2);
  member("g-2", "mid", "2", 2);
  uses("hot", {{"g-0", 3000}}, 4000);
  prove();
  const auto moves = planned(1);
  ASSERT_EQ(moves.size(), 1U) << ::testing::PrintToString(moves);
  EXPECT_THAT(moves[0], HasSubstr("g-0 to cold"));
  EXPECT_FALSE(jobs()[0].meta.annotations.has("descheduler.mangrove.io/together"));
}

TEST_F(GangMoves, OneMemberThatMayNotMoveKeepsThemAll) {
  member("g-0", "hot", "2", 2);
  member("g-1", "mid", "2", 2, R"(,"scheduling.koordinator.sh/eviction-cost":"2147483647")");
  uses("hot", {{"g-0", 3000}}, 4000);
  prove();
  EXPECT_THAT(planned(), IsEmpty());
  EXPECT_THAT(whyNot("g-0"), HasSubstr("all of it moves or nobody does, and d/g-1 stays"));
}

}  // namespace
}  // namespace mangrove::descheduler
