// The whole descheduler beside a small API server: a hot node, its jobs, and what the server has in
// the end.
#include "descheduler/descheduler.h"

#include "api/object/core_objects.h"
#include "descheduler/notice/notice.h"
#include "descheduler/testing/whole_descheduler.h"

namespace mangrove::descheduler {
namespace {

using namespace std::chrono_literals;
using testing::WholeDescheduler;
namespace kind = client::kind;

TEST_F(WholeDescheduler, AHotNodeGivesUpAPod) {
  start("EvictDirectly");
  ASSERT_TRUE(until([&] { return phase() == "Succeeded"; })) << phase() << reasonOf();
  EXPECT_FALSE(hasPod("p0"));
  const auto made = jobs();
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0].spec.podRef->uid, "uid-p0");
  EXPECT_EQ(made[0].meta.annotations.get("koordinator.sh/evict-trigger"), "LowNodeLoad");
  EXPECT_THAT(std::string(*made[0].meta.annotations.get("koordinator.sh/evict-reason")),
              ::testing::StartsWith("node is overutilized, node cpu usage(98.75%)"));
}

TEST_F(WholeDescheduler, TheDefaultEvictorNeedsNoJob) {
  startDirect("{}");
  ASSERT_TRUE(until([&] { return !hasPod("p0"); }));
  EXPECT_TRUE(jobs().empty());
}

TEST_F(WholeDescheduler, TheDefaultEvictorSparesWhomItsArgumentsSpare) {
  startDirect(R"({"minPodAge":"1h","nodeFit":true})");
  ASSERT_TRUE(until([&] { return descheduler->waitingFor().empty(); }));
  EXPECT_TRUE(descheduler->cycle().empty());
  until([&, looks = 0]() mutable { return ++looks > 50; });
  EXPECT_TRUE(hasPod("p0"));
}

TEST_F(WholeDescheduler, ADryRunMakesNoJob) {
  start("EvictDirectly", "LowNodeLoad", true);
  ASSERT_TRUE(until([&] { return descheduler->waitingFor().empty(); }));
  EXPECT_TRUE(descheduler->cycle().empty());
  until([&, looks = 0]() mutable { return ++looks > 50; });
  EXPECT_TRUE(jobs().empty());
  EXPECT_TRUE(hasPod("p0"));
}

TEST_F(WholeDescheduler, NobodyLeavesBeforeItsPlaceIsThere) {
  start("ReservationFirst");
  ASSERT_TRUE(until([&] { return reservations() == 1 && phase() == "Running"; }));
  EXPECT_TRUE(hasPod("p0"));
  reservationIs("Available", "cold");
  ASSERT_TRUE(until([&] { return !hasPod("p0"); }));
  pod("p0-new", "cold");
  reservationIs("Succeeded", "cold", "p0-new");
  ASSERT_TRUE(until([&] { return phase() == "Succeeded"; })) << phase() << reasonOf();
  EXPECT_EQ(jobs()[0].status.nodeName, "cold");
  EXPECT_EQ(jobs()[0].status.podRef->name, "p0-new");
}

TEST_F(WholeDescheduler, AnotherProcessGoesOnWhereOneEnded) {
  start("ReservationFirst");
  ASSERT_TRUE(until([&] { return reservations() == 1 && phase() == "Running"; }));
  reservationIs("Available", "cold");
  ASSERT_TRUE(until([&] { return !hasPod("p0"); }));  // noted or not: the intent was
  descheduler.reset();
  pod("p0-new", "cold");
  reservationIs("Succeeded", "cold", "p0-new");
  start("ReservationFirst", "");
  ASSERT_TRUE(until([&] { return phase() == "Succeeded"; })) << phase() << reasonOf();
}

TEST_F(WholeDescheduler, ADryRunLeavesJobsOfOthersAlone) {
  job("by-hand", "EvictDirectly");
  start("ReservationFirst", "", true);
  ASSERT_TRUE(until([&] { return descheduler->waitingFor().empty(); }));
  until([&, looks = 0]() mutable { return ++looks > 50; });
  EXPECT_TRUE(hasPod("p0"));
  EXPECT_EQ(phase(), "");
}

TEST_F(WholeDescheduler, AJobByHandIsCarriedToItsEnd) {
  job("by-hand", "EvictDirectly");
  start("ReservationFirst", "");
  ASSERT_TRUE(until([&] { return phase() == "Succeeded"; })) << phase() << reasonOf();
}

TEST_F(WholeDescheduler, AJobForAWorkloadOfOneIsForbidden) {
  api.put(kind::kReplicaSet, "d", "rs", R"({"metadata":{"uid":"rs"},"spec":{"replicas":1}})");
  job("by-hand", "EvictDirectly");
  start("ReservationFirst", "");
  ASSERT_TRUE(until([&] { return phase() == "Failed"; }));
  EXPECT_EQ(reasonOf(), "ForbiddenMigratePod");
  EXPECT_TRUE(hasPod("p0"));
}

TEST_F(WholeDescheduler, APausedJobWaitsForApproval) {
  job("by-hand", "EvictDirectly", R"(,"paused":true)");
  start("ReservationFirst", "");
  ASSERT_TRUE(until([&] { return descheduler->waitingFor().empty(); }));
  until([&, looks = 0]() mutable { return ++looks > 50; });
  EXPECT_EQ(phase(), "");
  job("by-hand", "EvictDirectly");
  ASSERT_TRUE(until([&] { return phase() == "Succeeded"; }));
}

TEST_F(WholeDescheduler, ABudgetThatAllowsNothingIsWaitedForUntilTheTtl) {
  std::atomic<int> refused = 0;
  api.setHook([&](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (request.target.find("/eviction") == std::string::npos) return std::nullopt;
    ++refused;
    return net::HttpResponse::json(
        429, R"({"kind":"Status","status":"Failure","reason":"TooManyRequests","code":429})");
  });
  job("by-hand", "EvictDirectly");
  start("ReservationFirst", "");
  ASSERT_TRUE(until([&] { return refused > 3; }, 50ms));
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(conditionOf(jobs()[0].status.conditions, "Eviction")->status, "Unknown")
      << "meant, not sent";
  ASSERT_TRUE(until([&] { return phase() == "Failed"; }, 5s));
  EXPECT_EQ(reasonOf(), "Timeout");
  EXPECT_TRUE(hasPod("p0"));
}

TEST_F(WholeDescheduler, WhatNeverGotAPlaceEndsAndLeavesNothing) {
  start("ReservationFirst", "");
  job("by-hand", "ReservationFirst");
  ASSERT_TRUE(until([&] { return reservations() == 1; }));
  ASSERT_TRUE(until([&] { return phase() == "Failed"; }, 5s));
  EXPECT_EQ(reasonOf(), "Timeout");
  ASSERT_TRUE(until([&] { return reservations() == 0; }));
  EXPECT_TRUE(hasPod("p0"));
  ASSERT_TRUE(until([&] { return jobs().empty(); }, 5s)) << "the scavenger takes it away";
}

TEST_F(WholeDescheduler, ADeletedJobTakesItsReservationAlong) {
  start("ReservationFirst", "");
  job("by-hand", "ReservationFirst");
  ASSERT_TRUE(until([&] { return reservations() == 1 && phase() == "Running"; }));
  until([&, looks = 0]() mutable { return ++looks > 30; });
  api.remove(kind::kPodMigrationJob, "", "by-hand");
  ASSERT_TRUE(until([&] { return reservations() == 0; }));
}

TEST_F(WholeDescheduler, WhoStaysIsWrittenWhereTheDashboardLooks) {
  noticeNamespace = "koordinator-system";
  api.put(kind::kReplicaSet, "d", "rs", R"({"metadata":{"uid":"rs"},"spec":{"replicas":1}})");
  start("EvictDirectly");
  const auto text = [&]() -> std::string {
    const auto all = api.truth(kind::kConfigMap);
    const auto found = all.find("koordinator-system/mangrove-descheduler");
    return found == all.end() ? "" : found->second;
  };
  ASSERT_TRUE(until([&] { return text().find("d/p0") != std::string::npos; })) << text();
  const auto map = api::decodeText<api::ConfigMap>(text());
  ASSERT_TRUE(map);
  const Notice notice = noticeOf(map->data);
  ASSERT_EQ(notice.stays.size(), 1U);
  EXPECT_THAT(notice.stays[0].why, ::testing::HasSubstr("replica"));
  // Relieved: nobody is asked about any more, and the note says so.
  report("hot", 100);
  ASSERT_TRUE(until([&] { return text().find("d/p0") == std::string::npos; }, 1s)) << text();
}

TEST_F(WholeDescheduler, WhatTheLeaderBeforeSaidIsTakenBack) {
  noticeNamespace = "koordinator-system";
  const std::string name = "koordinator-system/mangrove-descheduler";
  api.put(kind::kConfigMap, "koordinator-system", "mangrove-descheduler",
          R"({"data":{"stays":"[{\"pod\":\"d/gone\",\"why\":\"x\"}]","count":"1"}})");
  start("EvictDirectly", "");
  ASSERT_TRUE(until(
      [&] { return api.truth(kind::kConfigMap).at(name).find("d/gone") == std::string::npos; }));
}

TEST_F(WholeDescheduler, OneNodeIsNoCluster) {  // case 39
  api.remove(kind::kNode, "", "cold");
  start("EvictDirectly");
  ASSERT_TRUE(until([&] { return descheduler->waitingFor().empty(); }));
  const auto errors = descheduler->cycle();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0].text(), ::testing::HasSubstr("1 nodes take part"));
}

}  // namespace
}  // namespace mangrove::descheduler
