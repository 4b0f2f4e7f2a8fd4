#include "report/batch_ledger.h"

#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "base/text/time_text.h"
#include "json/value.h"

namespace mangrove::report {
namespace {

using std::chrono::seconds;

const WallTime kStart = *parseTime("2026-11-18T02:00:00Z");

api::Pod podOf(const std::string& name, const std::string& phase, const std::string& more = "",
               bool started = true) {
  const auto pod = api::decodeText<api::Pod>(
      R"({"metadata":{"name":")" + name + R"(","namespace":"etl","uid":"u-)" + name +
      R"(","creationTimestamp":"2026-11-18T01:59:30Z",)"
      R"("ownerReferences":[{"kind":"Job","name":"j","uid":"x","controller":true}])" +
      more +
      R"(},"spec":{"containers":[{"name":"c","resources":{"requests":{"kubernetes.io/batch-cpu":)"
      R"("2000"}}}]},"status":{"phase":")" +
      phase + '"' + (started ? R"(,"startTime":"2026-11-18T02:00:00Z")" : "") + "}}");
  EXPECT_TRUE(pod) << (pod ? "" : pod.error().text());
  return *pod;
}

class Ledger : public ::testing::Test {
 protected:
  void look(std::vector<api::Pod> pods, int64_t at, BatchLedger::Usage usage = {},
            BatchLedger::Uids evicted = {}) {
    std::vector<const api::Pod*> all;
    for (const api::Pod& pod : pods) all.push_back(&pod);
    ledger.look(all, usage, evicted, kStart + seconds(at));
  }
  BatchAccount only() {
    const auto all = ledger.accounts();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? BatchAccount{} : all[0];
  }
  BatchLedger ledger;
};

TEST_F(Ledger, SoldUsedAndWaited) {
  look({podOf("a", "Pending", "", false)}, -10);
  look({podOf("a", "Running")}, 100, {{"etl/a", 1.5}});
  look({podOf("a", "Running")}, 200, {{"etl/a", 1.0}});
  look({podOf("a", "Succeeded")}, 300);
  const BatchAccount one = only();
  EXPECT_EQ(one.tenant, "etl");
  EXPECT_EQ(one.job, "etl/Job/j");
  EXPECT_EQ(one.pods, 1);
  EXPECT_EQ(one.finished, 1);
  EXPECT_EQ(one.soldSeconds, 400);
  EXPECT_EQ(one.usedSeconds, 250);
  EXPECT_EQ(one.waitedSeconds, 30);
  EXPECT_EQ(one.lostSeconds, 0);
  look({podOf("a", "Succeeded")}, 400);
  EXPECT_EQ(only().finished, 1) << "once";
}

TEST_F(Ledger, LostIsWhatWasMeasuredSinceTheLastCheckpoint) {
  look({podOf("a", "Running")}, 100, {{"etl/a", 1.0}});
  look({}, 110, {}, {"u-a"});
  EXPECT_EQ(only().evicted, 1);
  EXPECT_EQ(only().lostSeconds, 100) << "no more than it used";
  const std::string saved =
      R"(,"annotations":{"colocation.mangrove.io/checkpoint":"{\"mode\":\"signal\"}",)"
      R"("colocation.mangrove.io/checkpoint-last":"2026-11-18T02:03:00Z"})";
  look({podOf("b", "Running", saved)}, 200, {{"etl/b", 2.0}});
  look({}, 210, {}, {"u-b"});
  EXPECT_EQ(only().lostSeconds, 140) << "2 cores for 20 s";
  look({podOf("c", "Running")}, 300);
  look({}, 310);
  EXPECT_EQ(only().evicted, 2) << "deleted by its owner";
}

TEST_F(Ledger, OutlivesWhoKeepsIt) {
  look({podOf("a", "Running")}, 100, {{"etl/a", 1.0}});
  const json::Value state = *json::parse(json::write(ledger.state()));
  BatchLedger next;
  ASSERT_TRUE(next.restore(state));
  EXPECT_EQ(next.accounts(), ledger.accounts());
  const api::Pod pod = podOf("a", "Running");
  const api::Pod* const all[] = {&pod};
  next.look(all, {{"etl/a", 1.0}}, {}, kStart + seconds(200));
  EXPECT_EQ(next.accounts()[0].soldSeconds, 400);
  EXPECT_EQ(next.accounts()[0].pods, 1);
  EXPECT_FALSE(next.restore(json::Value("x")));
}

TEST_F(Ledger, CostsPerFinishedPodIncludeWhatWasLost) {
  BatchAccount one{.finished = 2, .soldSeconds = 7200, .finishedSeconds = 3600};
  const auto cost = unitCost(one, {.batch = 0.25, .dedicated = 1});
  EXPECT_EQ(cost->batch, 0.25);
  EXPECT_EQ(cost->dedicated, 0.5);
  EXPECT_FALSE(unitCost({}, {}));
  EXPECT_NE(toTable({one}, {}).find("COST/DEDICATED"), std::string::npos);
  EXPECT_EQ(toTable({}, {}), "no batch pod was seen\n");
}

}  // namespace
}  // namespace mangrove::report
