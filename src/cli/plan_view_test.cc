#include "cli/plan_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mangrove::cli {
namespace {

using mangrove::descheduler::Journal;
using mangrove::descheduler::Look;
using ::testing::HasSubstr;

std::shared_ptr<api::Node> node(const std::string& name) {
  auto out = std::make_shared<api::Node>();
  out->meta.name = name;
  out->status.allocatable = {{"cpu", "4"}, {"memory", "8Gi"}};
  return out;
}

TEST(PlanView, ShowsEachNodeBeforeAndAfter) {
  const WallTime now{std::chrono::hours(24 * 20'000)};
  auto pod = std::make_shared<api::Pod>();
  pod->meta.name = "web-1";
  pod->meta.ns = Interned("d");
  pod->nodeName = Interned("hot");
  auto hot = std::make_shared<api::NodeMetric>();
  hot->meta.name = "hot";
  hot->status.updateTime = now;
  hot->status.nodeMetric.emplace().systemUsage.resources = {{"cpu", "2600m"}};
  auto& usage = hot->status.podsMetric.emplace_back();
  usage.name = "web-1";
  usage.ns = Interned("d");
  usage.podUsage.resources = {{"cpu", "1"}};
  const Look look({node("hot"), node("cold")}, {pod}, {hot}, now);
  Journal journal;
  journal.moved({"d/web-1", "hot", "cold", "LowNodeLoad", "node is overutilized", "proven"});
  const Told told = tellPlan(look, journal, {});
  EXPECT_THAT(told.answer, HasSubstr("1 pod would be moved"));
  EXPECT_THAT(told.terms, HasSubstr("90.0 % -> 65.0 %"));
  EXPECT_THAT(told.terms, HasSubstr("1 -> 0"));
  EXPECT_THAT(told.terms, HasSubstr("not measured"));  // cold has no metric
  EXPECT_THAT(told.terms, HasSubstr("0 -> 1"));
  EXPECT_EQ(json::write(json::Value(told.data)).find("\"from\":\"hot\"") == std::string::npos,
            false);
}

TEST(PlanView, SaysWhoStaysAndWhy) {
  Journal journal;
  api::Pod pod;
  pod.meta.name = "db-0";
  pod.meta.ns = Interned("d");
  journal.refused(pod, "its eviction cost says never");
  const Told told = tellPlan(Look(), journal, {});
  EXPECT_EQ(told.answer, "nothing would be moved now");
  EXPECT_THAT(told.terms, HasSubstr("d/db-0: its eviction cost says never"));
}

}  // namespace
}  // namespace mangrove::cli
