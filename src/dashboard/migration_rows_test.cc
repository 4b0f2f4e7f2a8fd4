// Moves of pods as rows, in the words of the story that `mangrove explain migration` tells.
#include "dashboard/migration_rows.h"

#include <gmock/gmock.h>

#include "api/wire/decode.h"
#include "descheduler/migration/story.h"

namespace mangrove::dashboard {
namespace {

std::shared_ptr<const api::PodMigrationJob> job(std::string_view text) {
  auto made = api::decodeText<api::PodMigrationJob>(text);
  EXPECT_TRUE(made) << made.error().text();
  return std::make_shared<api::PodMigrationJob>(std::move(*made));
}

MigrationObjects threeJobs() {
  return {
      job(R"({"metadata":{"name":"old","creationTimestamp":"2026-03-01T12:00:00Z","annotations":{
             "koordinator.sh/evict-reason":"node is overutilized","koordinator.sh/evict-trigger":"LowNodeLoad",
             "descheduler.mangrove.io/source":"n1","descheduler.mangrove.io/target":"n2"}},
           "spec":{"podRef":{"namespace":"d","name":"a","uid":"a"}},
           "status":{"phase":"Succeeded","nodeName":"n2","conditions":[
             {"type":"BoundPodReady","status":"True","lastTransitionTime":"2026-03-01T12:00:09Z"},
             {"type":"Account","status":"True","lastTransitionTime":"2026-03-01T12:03:00Z","message":
              "{\"before\":{\"source\":{\"node\":\"n1\",\"cpu\":90,\"memory\":30},\"target\":{\"node\":\"n2\",\"cpu\":20,\"memory\":10},\"podCores\":2},\"after\":{\"source\":{\"node\":\"n1\",\"cpu\":65,\"memory\":28},\"target\":{\"node\":\"n2\",\"cpu\":44,\"memory\":12},\"podCores\":1.9}}"}]}})"),
      job(R"({"metadata":{"name":"failed","creationTimestamp":"2026-03-01T12:05:00Z"},
           "spec":{"podRef":{"namespace":"d","name":"b"}},
           "status":{"phase":"Failed","reason":"Timeout","message":"it did not end within 300 s"}})"),
      job(R"({"metadata":{"name":"now","creationTimestamp":"2026-03-01T12:04:00Z","annotations":{
             "descheduler.koordinator.sh/passed-arbitration":"true"}},
           "spec":{"podRef":{"namespace":"d","name":"c","uid":"c"}},
           "status":{"phase":"Running","conditions":[{"type":"Eviction","status":"False"}]}})")};
}

json::Object board() {
  auto pod = std::make_shared<api::Pod>();
  pod->meta.uid = api::Uid("c");
  pod->nodeName = Interned("n3");
  return migrationBoard(threeJobs(), [pod](std::string_view key) {
    return key == "d/c" ? pod : std::shared_ptr<const api::Pod>();
  });
}

TEST(MigrationBoard, ShowsWhatIsUnderWayFirstThenTheNewest) {
  const json::Object all = board();
  const json::Array& moves = all.at("moves").as_array();
  ASSERT_EQ(moves.size(), 3u);
  EXPECT_EQ(moves[0].at("name"), "now");
  EXPECT_EQ(moves[1].at("name"), "failed");
  EXPECT_EQ(moves[2].at("name"), "old");
  EXPECT_EQ(all.at("underWay"), 1);
  EXPECT_EQ(all.at("succeeded"), 1);
  EXPECT_EQ(all.at("failed"), 1);
}

TEST(MigrationBoard, SaysWhoMovedFromWhereToWhereAndWhy) {
  const json::Object all = board();
  const json::Value& row = all.at("moves").as_array().at(2);
  EXPECT_EQ(row.at("from"), "n1");
  EXPECT_EQ(row.at("to"), "n2");
  EXPECT_EQ(row.at("why"), "node is overutilized (LowNodeLoad)");
  EXPECT_EQ(row.at("proof"), "the scheduler's rules put it on n2");
  EXPECT_EQ(row.at("paid"), true);
  const json::Array& cpu = row.at("account").at("source").at("cpu").as_array();
  EXPECT_EQ(cpu.at(0).to_number<double>(), 90);
  EXPECT_EQ(cpu.at(1).to_number<double>(), 65);
  EXPECT_EQ(json::write(row.at("account").at("podLatencyMs")), "[null,null]") << "nobody said";
  EXPECT_EQ(row.at("ended").as_int64() - row.at("created").as_int64(), 9000);
}

TEST(MigrationBoard, AJobMadeByHandHasAReasonToo) {
  const json::Object all = board();
  const json::Value& row = all.at("moves").as_array().at(0);
  EXPECT_EQ(row.at("why"), "made by hand, and no reason was noted");
  EXPECT_EQ(row.at("from"), "n3");
  EXPECT_EQ(row.at("state"), "the pod was asked to leave and is still there");
}

TEST(MigrationBoard, CountsArrowsBetweenNodesAndNoneForWhatFailed) {
  EXPECT_EQ(json::write(board().at("arrows")), R"([{"from":"n1","to":"n2","moves":1}])");
  EXPECT_EQ(json::write(migrationBoard({}, {}).at("moves")), "[]");
}

TEST(MigrationBoard, SaysWhoStaysAndWhere) {
  auto pod = std::make_shared<api::Pod>();
  pod->nodeName = Interned("n7");
  const json::Object all =
      migrationBoard({}, [&](std::string_view key) { return key == "d/a" ? pod : nullptr; },
                     {{{"d/a", "a DaemonSet keeps it on its node"}, {"d/gone", "why"}}, 40});
  EXPECT_EQ(json::write(all.at("stays").as_array().at(0)),
            R"({"pod":"d/a","node":"n7","why":"a DaemonSet keeps it on its node"})");
  EXPECT_EQ(all.at("stays").as_array().at(1).at("node"), "");
  EXPECT_EQ(all.at("staying").to_number<int>(), 40);
}

// One story, two tellers: what the page shows is what the command says.
TEST(MigrationBoard, AgreesWithTheStoryOfEachJob) {
  for (const auto& one : threeJobs()) {
    const auto story = descheduler::storyOf(*one, nullptr);
    const json::Object all = migrationBoard({one}, {});
    const json::Value& row = all.at("moves").as_array().at(0);
    EXPECT_EQ(row.at("state").as_string(), story.state);
    EXPECT_EQ(row.at("why").as_string(), story.why);
    EXPECT_EQ(row.at("phase").as_string(), story.phase);
  }
}

}  // namespace
}  // namespace mangrove::dashboard
