// When a report makes the manager write other amounts for sale.
#include "agent/report/sale.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/wire/decode.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;

constexpr api::SaleRule kRule{0.1, 5min};

struct Numbers {
  int64_t web = 10'000, spark = 3'000, system = 2'000;  // thousandths of cores
  int64_t pinned = 0;                                   // of an LSE pod
  int64_t reclaimable = 0, memory = 40;                 // GiB of the web pod
};

api::NodeMetricStatus statusOf(const Numbers& n) {
  const std::string text = fmt::format(
      R"({{"updateTime":"2026-01-01T00:00:00Z",)"
      R"("nodeMetric":{{"nodeUsage":{{"resources":{{"cpu":"{}m","memory":"50Gi"}}}},)"
      R"("systemUsage":{{"resources":{{"cpu":"{}m","memory":"4Gi"}}}}}},"podsMetric":[)"
      R"({{"name":"lse","priority":"koord-prod","qos":"LSE","podUsage":{{"resources":{{"cpu":"{}m"}}}}}},)"
      R"({{"name":"spark","priority":"koord-batch","podUsage":{{"resources":{{"cpu":"{}m"}}}}}},)"
      R"({{"name":"web","priority":"koord-prod","podUsage":{{"resources":{{"cpu":"{}m","memory":"{}Gi"}}}}}}],)"
      R"("prodReclaimableMetric":{{"resource":{{"resources":{{"cpu":"{}m","memory":"1Gi"}}}}}}}})",
      n.system + n.web + n.spark, n.system, n.pinned, n.spark, n.web, n.memory, n.reclaimable);
  return *api::decodeText<api::NodeMetricStatus>(text);
}

api::Node nodeOf(const std::string& more, const std::string& annotations = "{}") {
  return *api::decodeText<api::Node>(fmt::format(
      R"({{"metadata":{{"name":"n1","annotations":{0}}},"status":{{)"
      R"("capacity":{{"cpu":"32","memory":"128Gi"}},"allocatable":{{"cpu":"31","memory":"126Gi"{1}}}}}}})",
      annotations, more));
}

constexpr const char* kSold =
    R"(,"kubernetes.io/batch-cpu":"8000","kubernetes.io/batch-memory":"40Gi")";

Sale opened(const std::string& amounts = kSold, const std::string& annotations = "{}") {
  Sale sale;
  const api::Node node = nodeOf(amounts, annotations);
  sale.onNode(&node, statusOf({}), MonoTime(0s));
  return sale;
}

// 8 cores are sold: the manager writes when 0.8 of one came or went.
TEST(Sale, WhatTheManagerWouldWrite) {
  struct {
    const char* what;
    Numbers now;
    bool moves;
  } const kTable[] = {
      {"the same", {}, false},
      {"a tenth less", {.web = 10'800}, false},
      {"more than a tenth less", {.web = 10'801}, true},
      {"more than a tenth more", {.web = 9'199}, true},
      {"batch work is who it is sold to", {.spark = 9'000}, false},
      {"the system counts", {.system = 2'801}, true},
      {"pods against the system", {.web = 9'000, .system = 3'000}, false},
      {"below what is kept of the node it does not", {.web = 10'600, .system = 500}, false},
      {"down to that it does", {.web = 9'800, .system = 1'000}, true},
      {"CPUs of a pod that are its own", {.pinned = 4'000}, false},
      {"memory by a tenth", {.memory = 36}, false},
      {"memory by more", {.memory = 35}, true},
      {"mid is not sold here", {.reclaimable = 5'000}, false},
  };
  for (const auto& row : kTable)
    EXPECT_EQ(opened().moves(statusOf(row.now), MonoTime(60s), kRule), row.moves) << row.what;
}

TEST(Sale, WritesWhateverItSeesAfterFiveMinutes) {
  Sale sale = opened();
  EXPECT_FALSE(sale.moves(statusOf({}), MonoTime(300s), kRule));
  EXPECT_TRUE(sale.moves(statusOf({}), MonoTime(301s), kRule));
  sale.told(statusOf({.web = 10'500}), MonoTime(360s), kRule);
  EXPECT_FALSE(sale.moves(statusOf({.web = 11'200}), MonoTime(420s), kRule)) << "7.5 to 6.8 cores";
  EXPECT_TRUE(sale.moves(statusOf({.web = 11'300}), MonoTime(420s), kRule)) << "7.5 to 6.7 cores";
}

TEST(Sale, AReportThatMovesNothingLeavesWhatStandsThere) {
  Sale sale = opened();
  sale.told(statusOf({.web = 10'700}), MonoTime(60s), kRule);
  EXPECT_TRUE(sale.moves(statusOf({.web = 10'900}), MonoTime(120s), kRule)) << "against 8, not 7.3";
  EXPECT_TRUE(sale.moves(statusOf({.web = 10'700}), MonoTime(301s), kRule)) << "since the write";
}

// A manager that writes whatever moved: what is sold stays within 1 %.
TEST(Sale, AManagerThatWritesEverything) {
  constexpr api::SaleRule kAll{0, 5min};
  EXPECT_FALSE(opened().moves(statusOf({.web = 10'072}), MonoTime(60s), kAll));
  EXPECT_TRUE(opened().moves(statusOf({.web = 10'073}), MonoTime(60s), kAll));
}

TEST(Sale, WhatStandsThereIsAsTheManagerLastLeftIt) {
  Sale sale = opened();
  const api::Node less = nodeOf(R"(,"kubernetes.io/batch-cpu":"4000")");
  sale.onNode(&less, statusOf({}), MonoTime(60s));
  EXPECT_TRUE(sale.moves(statusOf({.web = 10'401}), MonoTime(120s), kRule)) << "a tenth of 4";
  EXPECT_FALSE(sale.moves(statusOf({.memory = 1}), MonoTime(120s), kRule)) << "no longer sold";
  EXPECT_FALSE(sale.moves(statusOf({}), MonoTime(301s), kRule)) << "written at 60 s";
  const api::Node none = nodeOf("");
  sale.onNode(&none, statusOf({}), MonoTime(400s));
  EXPECT_FALSE(sale.isOpen());
  EXPECT_FALSE(sale.moves(statusOf({.web = 1}), MonoTime(900s), kRule));
  sale.onNode(nullptr, statusOf({}), MonoTime(900s));
  EXPECT_FALSE(sale.isOpen());
}

TEST(Sale, NothingIsLeft) {
  const Sale sale = opened(R"(,"kubernetes.io/batch-cpu":"0")");
  EXPECT_FALSE(sale.moves(statusOf({.web = 9'700}), MonoTime(60s), kRule));
  EXPECT_TRUE(sale.moves(statusOf({.web = 9'600}), MonoTime(60s), kRule)) << "1 % of the node";
  EXPECT_FALSE(sale.moves(statusOf({.web = 20'000}), MonoTime(60s), kRule)) << "less than nothing";
}

TEST(Sale, FasterCpusAreSoldAsMore) {
  const Sale sale =
      opened(kSold, R"({"node.koordinator.sh/cpu-normalization-ratio":"1.60"})");  // 5 real cores
  EXPECT_FALSE(sale.moves(statusOf({.web = 10'500}), MonoTime(60s), kRule));
  EXPECT_TRUE(sale.moves(statusOf({.web = 10'501}), MonoTime(60s), kRule));
}

TEST(Sale, MidAmounts) {
  const Sale sale = opened(R"(,"kubernetes.io/mid-cpu":"2000")");
  EXPECT_FALSE(sale.moves(statusOf({.reclaimable = 200}), MonoTime(60s), kRule));
  EXPECT_TRUE(sale.moves(statusOf({.reclaimable = 201}), MonoTime(60s), kRule));
}

// After a start nothing was reported yet: what stands there is taken as sold by the first report.
TEST(Sale, AfterAStart) {
  Sale sale;
  const api::Node node = nodeOf(kSold);
  sale.onNode(&node, {}, MonoTime(0s));
  EXPECT_TRUE(sale.moves(statusOf({}), MonoTime(5s), kRule));
  sale.told(statusOf({}), MonoTime(5s), kRule);
  EXPECT_FALSE(sale.moves(statusOf({.web = 10'800}), MonoTime(60s), kRule));
  EXPECT_TRUE(sale.moves(statusOf({.web = 10'801}), MonoTime(60s), kRule));
}

TEST(Sale, RuleAsText) {
  EXPECT_EQ(api::saleRuleText(kRule), "0.1/300s");
  EXPECT_EQ(api::parseSaleRule("0.1/300s"), kRule);
  for (const char* nonsense : {"", "0.1", "0.1/", "0.1/300", "-1/300s", "2/300s", "0.1/-1s", "x/1s",
                               "nan/300s", "0.1/300s ", "0.1/99999s"})
    EXPECT_FALSE(api::parseSaleRule(nonsense)) << nonsense;
}

}  // namespace
}  // namespace mangrove::agent
