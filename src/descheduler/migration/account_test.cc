#include "descheduler/migration/account.h"

#include <gtest/gtest.h>

#include "api/wire/decode.h"

namespace mangrove::descheduler {
namespace {

const WallTime kNow{std::chrono::hours(24 * 20'000)};

TEST(Account, StaysReadableInTheStatusAndLeavesTheRestAlone) {
  api::PodMigrationJobStatus status;
  status.status = "Complete";
  const Sides before{{"hot", 91.25, 40, 14}, {"cold", 20, 30}, {1.2, 22, 3.5, 12.5}};
  openAccount(status, before, kNow);
  auto open = accountOf(status);
  ASSERT_TRUE(open);
  EXPECT_FALSE(open->after);
  EXPECT_EQ(open->before.source.node, "hot");
  EXPECT_NEAR(open->before.source.cpu, 91.3, 0.06);
  EXPECT_EQ(open->before.pod, before.pod);
  EXPECT_EQ(open->before.source.waits, 14);
  EXPECT_FALSE(open->before.target.waits) << "nobody measures it there";
  closeAccount(status, {{"hot", 70, 38}, {"cold", 45, 35}, {1.1}}, kNow);
  const auto closed = accountOf(status);
  ASSERT_TRUE(closed && closed->after);
  EXPECT_TRUE(closed->paid);
  EXPECT_NEAR(closed->after->target.cpu, 45, 0.01);
  EXPECT_EQ(status.status, "Complete");
  EXPECT_EQ(status.conditions.size(), 1U);
}

TEST(Account, PaysWhereTheSourceIsRelievedAndTheTargetNotWorseOff) {
  const Sides before{{"s", 90, 50}, {"t", 20, 20}, {1}};
  EXPECT_TRUE(hasPaid(before, {{"s", 70, 50}, {"t", 40, 20}, {1}}));
  EXPECT_FALSE(hasPaid(before, {{"s", 90, 40}, {"t", 40, 20}, {1}})) << "not where it was hot";
  EXPECT_FALSE(hasPaid(before, {{"s", 70, 50}, {"t", 95, 20}, {1}})) << "the heat only moved";
}

TEST(Account, DoesNotPayWhereThePodIsWorseOff) {
  const auto paid = [](PodFacts was, PodFacts is) {
    return hasPaid({{"s", 90, 50}, {"t", 20, 20}, was}, {{"s", 70, 50}, {"t", 40, 20}, is});
  };
  EXPECT_TRUE(paid({1, 20, 3}, {1, 4, 0}));
  EXPECT_TRUE(paid({1, 20}, {1, 25})) << "a few points";
  EXPECT_FALSE(paid({1, 20}, {1, 26})) << "it waits more";
  EXPECT_TRUE(paid({1}, {1, 80})) << "nobody measured it before";
  EXPECT_TRUE(paid({1, {}, {}, 10}, {1, {}, {}, 11}));
  EXPECT_FALSE(paid({1, {}, {}, 10}, {1, {}, {}, 11.5})) << "it answers later";
}

TEST(Account, TakesWhatThePodAndItsNodeSayOfWaiting) {
  auto metric = api::decodeText<api::NodeMetric>(
      R"({"metadata":{"name":"n"},"status":{"nodeMetric":{},"podsMetric":[
      {"namespace":"d","name":"web","qos":"LS","podUsage":{"resources":{"cpu":"1500m"}},
       "extensions":{"Object":{"colocation.mangrove.io/stalls":{"cpu":30,"throttled":2}}}},
      {"namespace":"d","name":"db","qos":"LS","extensions":{"Object":{"colocation.mangrove.io/stalls":{"cpu":4,"throttled":0}}}},
      {"namespace":"d","name":"api","qos":"LSR","extensions":{"Object":{"colocation.mangrove.io/stalls":{"cpu":6,"throttled":0}}}},
      {"namespace":"d","name":"batch","qos":"BE","extensions":{"Object":{"colocation.mangrove.io/stalls":{"cpu":99,"throttled":0}}}}]}})");
  ASSERT_TRUE(metric) << metric.error().text();
  EXPECT_EQ(factsOf(&*metric, "d", "web"), (PodFacts{1.5, 30, 2}));
  EXPECT_EQ(factsOf(&*metric, "d", "nobody"), PodFacts{});
  api::Node node;
  node.status.allocatable = {{"cpu", "4"}, {"memory", "8Gi"}};
  EXPECT_EQ(sharesOf(&node, &*metric, kZeroTime)->waits, 6) << "services, the one in the middle";
}

TEST(Account, TakesTheLatencyThatIsReported) {
  api::Pod pod;
  EXPECT_FALSE(latencyOf(pod));
  pod.meta.annotations.set("colocation.mangrove.io/latency", "12.5ms");
  EXPECT_EQ(latencyOf(pod), 12.5);
  pod.meta.annotations.set("colocation.mangrove.io/latency", "fast");
  EXPECT_FALSE(latencyOf(pod));
}

TEST(Account, NobodyMeasuredItSince) {
  api::Node node;
  node.meta.name = "n";
  node.status.allocatable = {{"cpu", "4"}, {"memory", "8Gi"}};
  api::NodeMetric metric;
  EXPECT_FALSE(sharesOf(&node, &metric, kNow));
  metric.status.updateTime = kNow;
  metric.status.nodeMetric.emplace().systemUsage.resources = {{"cpu", "1"}};
  EXPECT_NEAR(sharesOf(&node, &metric, kNow)->cpu, 25, 0.01);
  EXPECT_FALSE(sharesOf(&node, &metric, kNow + std::chrono::seconds(1)));
}

}  // namespace
}  // namespace mangrove::descheduler
