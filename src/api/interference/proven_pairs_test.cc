#include "api/interference/proven_pairs.h"

#include <gtest/gtest.h>

#include "api/interference/latency_promise.h"
#include "base/text/time_text.h"

namespace mangrove::api {
namespace {

const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");

TEST(ProvenPairs, AreTheSameAfterWritingAndReading) {
  const std::vector<ProvenPair> pairs{{"shop/web", "batch/sort", kNow},
                                      {"shop/web", "batch/train", kNow - std::chrono::hours(5)}};
  EXPECT_EQ(parseProvenPairs(provenPairsText(pairs)), pairs);
  for (const char* bad : {"", "{}", "[1]", R"([{"victim":"a"}])", R"([{"victim":"a","by":"b"}])",
                          R"([{"victim":"a","by":"b","at":"x"}])"})
    EXPECT_TRUE(parseProvenPairs(bad).empty()) << bad;
}

TEST(ProvenPairs, OldOnesAndTooManyGo) {
  std::vector<ProvenPair> pairs{{"a", "b", kNow - std::chrono::hours(24 * 30)}};
  for (int i = 0; i < 50; ++i) pairs = withPair(pairs, {"a", std::to_string(i), kNow}, kNow);
  ASSERT_EQ(pairs.size(), 32u);
  EXPECT_EQ(pairs.back().antagonist, "49");
  EXPECT_EQ(pairs.front().antagonist, "18");
}

TEST(WorkloadClass, OutlivesRolloutsAndRuns) {
  Labels none, app;
  app.set("app", "web");
  OwnerReference set, job, stateful;
  set.kind = Interned("ReplicaSet"), set.name = Text("web-7d9f8b6c5");
  job.kind = Interned("Job"), job.name = Text("report-28934510");
  stateful.kind = Interned("StatefulSet"), stateful.name = Text("db-main");
  EXPECT_EQ(workloadClassOf("shop", app, &set, "x"), "shop/web");
  EXPECT_EQ(workloadClassOf("shop", none, &set, "x"), "shop/web");
  EXPECT_EQ(workloadClassOf("shop", none, &job, "x"), "shop/report");
  EXPECT_EQ(workloadClassOf("shop", none, &stateful, "x"), "shop/db-main");
  EXPECT_EQ(workloadClassOf("shop", none, nullptr, "bare"), "shop/bare");
}

TEST(LatencyPromise, SaysWhatIsWrong) {
  const auto parse = [](const char* text) {
    Annotations pod;
    pod.set(kLatencyAnnotation, text);
    return parseLatencyPromise(pod);
  };
  const auto good =
      parse(R"({"prometheus":"http://:8080/metrics","histogram":"h","promisedMs":20})");
  ASSERT_TRUE(good && *good);
  EXPECT_EQ((*good)->promisedMs, 20);
  EXPECT_EQ((*good)->quantile, 0.99);
  EXPECT_FALSE(*parseLatencyPromise({}));
  struct Row {
    const char* text;
    const char* says;
  };
  for (const Row& row : {Row{"{}", "neither"},
                         {R"({"probe":"http://:1/","prometheus":"http://:1/"})", "both"},
                         {R"({"probe":"http://10.0.0.1:1/"})", "without a host"},
                         {R"({"prometheus":"http://:1/"})", "histogram is missing"},
                         {R"({"probe":"http://:1/","quantile":1})", "quantile 1"},
                         {R"({"probe":"http://:1/","promisedMs":-1})", "promisedMs -1"}}) {
    const auto bad = parse(row.text);
    ASSERT_FALSE(bad) << row.text;
    EXPECT_NE(bad.error().text().find(row.says), std::string::npos) << bad.error().text();
  }
}

}  // namespace
}  // namespace mangrove::api
