#include "descheduler/migration/account.h"

#include <gtest/gtest.h>

namespace mangrove::descheduler {
namespace {

const WallTime kNow{std::chrono::hours(24 * 20'000)};

TEST(Account, StaysReadableInTheStatusAndLeavesTheRestAlone) {
  api::PodMigrationJobStatus status;
  status.status = "Complete";
  const Sides before{{"hot", 91.25, 40}, {"cold", 20, 30}, 1.2};
  openAccount(status, before, kNow);
  auto open = accountOf(status);
  ASSERT_TRUE(open);
  EXPECT_FALSE(open->after);
  EXPECT_EQ(open->before.source.node, "hot");
  EXPECT_NEAR(open->before.source.cpu, 91.3, 0.06);
  closeAccount(status, {{"hot", 70, 38}, {"cold", 45, 35}, 1.1}, kNow);
  const auto closed = accountOf(status);
  ASSERT_TRUE(closed && closed->after);
  EXPECT_TRUE(closed->paid);
  EXPECT_NEAR(closed->after->target.cpu, 45, 0.01);
  EXPECT_EQ(status.status, "Complete");
  EXPECT_EQ(status.conditions.size(), 1U);
}

TEST(Account, PaysWhereTheSourceIsRelievedAndTheTargetNotWorseOff) {
  const Sides before{{"s", 90, 50}, {"t", 20, 20}, 1};
  EXPECT_TRUE(hasPaid(before, {{"s", 70, 50}, {"t", 40, 20}, 1}));
  EXPECT_FALSE(hasPaid(before, {{"s", 90, 40}, {"t", 40, 20}, 1})) << "not where it was hot";
  EXPECT_FALSE(hasPaid(before, {{"s", 70, 50}, {"t", 95, 20}, 1})) << "the heat only moved";
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
