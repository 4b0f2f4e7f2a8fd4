#include "manager/controllers/interferencepool/pool.h"

#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "json/value.h"
#include "manager/controllers/interferencepool/move.h"

namespace mangrove::manager {
namespace {

const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");
const std::string kWeb = "Xeon|shop/web|v1|2.0", kApi = "Xeon|shop/api|v1|2.0";

api::InterferenceFences seenBy(const std::string& node, const std::string& key, int samples,
                               double cpi, WallTime at = kNow) {
  api::FenceBook book;
  for (int i = 0; i < samples; ++i) book.learn(key, 2, 150, {{"cpi", cpi + 0.01 * (i % 5)}}, at);
  api::InterferenceFences out;
  out.meta.name = api::Text(api::nodeFencesName(node));
  out.spec.node = node;
  out.spec.book = json::write(book.state());
  return out;
}

TEST(FencePool, NodesThatKnowTooLittleKnowEnoughTogether) {
  FencePool pool;
  for (int node = 0; node < 4; ++node)
    EXPECT_EQ(pool.add(seenBy(std::to_string(node), kWeb, 18, 1.8), true, kNow), "");
  EXPECT_EQ(pool.add(seenBy("x", kApi, 10, 1.0), true, kNow), "");
  const auto steps = pool.steps(kNow);
  ASSERT_EQ(steps.size(), 2u);
  for (const PoolStep& step : steps) {
    EXPECT_EQ(step.kind, PoolStep::Kind::kCreate);
    api::InterferenceFences object;
    object.spec = step.spec;
    const auto book = api::bookOf(object);
    ASSERT_TRUE(book);
    const bool web = step.spec.workload == kWeb;
    EXPECT_EQ(step.name, api::workloadFencesName(step.spec.workload));
    EXPECT_EQ(step.spec.nodes, web ? 4 : 1);
    EXPECT_EQ(book->fence(step.spec.workload, 2, 150, "cpi").state,
              web ? api::Fence::State::kLearned : api::Fence::State::kCold);
  }
}

TEST(FencePool, WritesWhatChangedAndDeletesWhatIsNobodys) {
  FencePool first;
  first.add(seenBy("a", kWeb, 30, 1.8), true, kNow);
  const PoolStep made = first.steps(kNow).at(0);
  api::InterferenceFences there;
  there.meta.name = api::Text(made.name);
  there.spec = made.spec;

  FencePool same;
  same.add(there, false, kNow);
  same.add(seenBy("a", kWeb, 30, 1.8), true, kNow);
  EXPECT_TRUE(same.steps(kNow).empty()) << "nothing is new";

  FencePool more;
  more.add(there, false, kNow);
  more.add(seenBy("a", kWeb, 31, 1.8), true, kNow);
  ASSERT_EQ(more.steps(kNow).size(), 1u);
  EXPECT_EQ(more.steps(kNow)[0].kind, PoolStep::Kind::kPatch);

  FencePool gone;
  gone.add(there, false, kNow);
  gone.add(seenBy("a", kWeb, 30, 1.8), false, kNow);
  const auto steps = gone.steps(kNow);
  ASSERT_EQ(steps.size(), 2u) << "of a node that left, and of a workload that nobody has";
  for (const PoolStep& step : steps) EXPECT_EQ(step.kind, PoolStep::Kind::kDelete);
}

TEST(FencePool, ForgetsOldWorkloadsAndSaysWhatItCannotRead) {
  FencePool pool;
  pool.add(seenBy("a", kWeb, 30, 1.8, kNow - std::chrono::hours(24 * 8)), true, kNow);
  EXPECT_TRUE(pool.steps(kNow).empty());
  api::InterferenceFences bad = seenBy("b", kWeb, 3, 1.8);
  bad.spec.book = "{";
  EXPECT_NE(pool.add(bad, true, kNow).find("node-b"), std::string::npos);
}

api::Pod pod(const std::string& uid, const std::string& owner, const char* phase = "Running") {
  const std::string owners =
      owner.empty() ? ""
                    : R"(,"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet",)"
                      R"("name":"r","controller":true,"uid":")" +
                          owner + R"("}])";
  return *api::decodeText<api::Pod>(
      R"({"metadata":{"name":"web-)" + uid + R"(","namespace":"shop","uid":")" + uid + "\"" +
      owners + R"(},"spec":{"nodeName":"n1"},"status":{"phase":")" + phase + "\"}}");
}

api::InterferenceReport victim(const std::string& uid) {
  api::InterferenceReport out;
  out.meta.ns = Interned("shop");
  out.meta.name = api::Text("web-1");
  out.spec.victim = "shop/web-" + uid;
  out.spec.victimUid = uid;
  return out;
}

TEST(MoveOfAVictim, OnlyWhereOthersServeAndOneAtATime) {
  const std::vector<api::Pod> two{pod("a", "rs"), pod("b", "rs"), pod("c", "other")};
  const MoveAnswer yes = mayMove(victim("a"), two, {});
  EXPECT_EQ(yes.refusal, "");
  EXPECT_EQ(yes.workload, "rs");
  const json::Value job = moveJob(victim("a"), yes);
  const std::string text = json::write(job);
  for (const char* part :
       {"\"ReservationFirst\"", "\"uid\":\"a\"", "\"name\":\"web-a\"", "\"namespace\":\"shop\""})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;

  EXPECT_NE(mayMove(victim("c"), two, {}).refusal.find("no other replica"), std::string::npos);
  EXPECT_NE(mayMove(victim("z"), two, {}).refusal.find("gone"), std::string::npos);
  const std::vector<api::Pod> bare{pod("a", "")};
  EXPECT_NE(mayMove(victim("a"), bare, {}).refusal.find("no controller"), std::string::npos);
  const std::vector<api::Pod> ended{pod("a", "rs"), pod("b", "rs", "Succeeded")};
  EXPECT_NE(mayMove(victim("a"), ended, {}).refusal.find("no other replica"), std::string::npos);

  std::vector<api::PodMigrationJob> jobs{*api::decodeText<api::PodMigrationJob>(text)};
  EXPECT_NE(mayMove(victim("b"), two, jobs).refusal.find("under way"), std::string::npos);
  jobs[0].status.phase = "Failed";
  EXPECT_EQ(mayMove(victim("b"), two, jobs).refusal, "");
}

TEST(Reports, AreKeptForTwoWeeks) {
  api::InterferenceReport report;
  report.spec.start = kNow;
  EXPECT_FALSE(isOld(report, kNow + std::chrono::hours(24 * 15))) << "it goes on";
  report.status.end = kNow;
  EXPECT_FALSE(isOld(report, kNow + std::chrono::hours(24 * 13)));
  EXPECT_TRUE(isOld(report, kNow + std::chrono::hours(24 * 15)));
}

}  // namespace
}  // namespace mangrove::manager
