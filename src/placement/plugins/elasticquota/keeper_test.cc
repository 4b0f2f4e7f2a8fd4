// What quotas show with time: figures, beginnings, metrics, the past; and what hooks add.
#include "placement/plugins/elasticquota/keeper.h"

#include <gmock/gmock.h>

#include "placement/testing/quota_lab.h"

namespace mangrove::placement {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(QuotaKeeper, SaysSinceWhenAQuotaBorrowsAndRemembersItAfterARestart) {
  QuotaLab lab;
  lab.machine("n1", 10);
  lab.quota("q", {.min = 1, .max = 10});
  lab.ask("a", "q", 3);
  lab.run();
  lab.wait(seconds(1));
  lab.lab.takeLog();
  lab.lab.engine().report();
  EXPECT_THAT(lab.lab.takeLog(), Contains(HasSubstr(std::string(kBorrowsSince))));

  QuotaLab next;
  next.machine("n1", 10);
  next.quota(
      "q",
      {.min = 1,
       .max = 10,
       .annotations = R"("quota.mangrove.io/borrows-since":"{\"cpu\":\"2026-01-02T03:04:05Z\"}")"});
  next.ask("a", "q", 3);
  next.run();
  next.wait(seconds(2));
  const json::Value shown = next.page("quotas/q");
  const json::Object& borrowed = shown.at("borrows").as_array().at(0).as_object();
  EXPECT_EQ(borrowed.at("amount"), "2");
  EXPECT_EQ(borrowed.at("since"), "2026-01-02T03:04:05Z");
}

TEST(QuotaKeeper, MakesTheQuotasThatEveryClusterHasOnce) {
  QuotaLab lab;
  lab.lab.engine().report();
  const auto log = lab.lab.takeLog();
  for (const char* name :
       {"koordinator-root-quota", "koordinator-system-quota", "koordinator-default-quota"})
    EXPECT_THAT(log, Contains(HasSubstr(std::string("koordinator-system/") + name)));
  lab.lab.engine().report();
  EXPECT_THAT(lab.lab.takeLog(), Not(Contains(HasSubstr("koordinator-root-quota"))));
}

TEST(QuotaKeeper, ShowsTheReferencesSeriesAndForgetsQuotasThatAreGone) {
  QuotaLab lab;
  lab.machine("n1", 10);
  lab.quota("q", {.min = 1, .max = 8});
  lab.ask("a", "q", 3);
  lab.run();
  lab.wait(seconds(11));
  const std::string shown = lab.lab.metrics().exposition();
  EXPECT_THAT(
      shown,
      HasSubstr(
          R"(scheduler_elastic_quota_status{name="q",resource="cpu",tree="",is_parent="false",parent="koordinator-root-quota",field="used"} 3000)"));
  EXPECT_THAT(shown, HasSubstr(R"(field="sharedWeight"} 8000)"));
  lab.removePod("a");
  lab.dropQuota("q");
  lab.wait(seconds(11));
  EXPECT_THAT(lab.lab.metrics().exposition(), Not(HasSubstr(R"(name="q")")));
}

double cpusOf(const std::string& text) {
  const double value = std::stod(text);
  return text.ends_with("m") ? value / 1000 : value;
}

// Both borrow; one has done so for hours. What becomes free goes to the one that waited.
TEST(FairOverTime, WhoWaitedLongGoesBeforeWhoBorrowedAllDay) {
  for (const bool fair : {false, true}) {
    json::Object args;
    if (fair) args["fairOverTime"] = json::Object{{"halfLife", "1h"}};
    QuotaLab lab(args);
    lab.machine("n1", 12);
    lab.quota("greedy", {.max = 12, .weight = 1});
    lab.quota("patient", {.max = 12, .weight = 1});
    for (int i = 0; i < 12; i++) lab.ask("g" + std::to_string(i), "greedy", 1);
    lab.run();
    for (int i = 0; i < 4 * 3600; i += 60) lab.wait(seconds(60));
    for (int i = 0; i < 12; i++) lab.ask("p" + std::to_string(i), "patient", 1);
    lab.wait(seconds(2));
    const double patient = cpusOf(lab.runtime("patient"));
    EXPECT_DOUBLE_EQ(cpusOf(lab.runtime("greedy")) + patient, 12);
    if (fair)
      EXPECT_GT(patient, 7);
    else
      EXPECT_EQ(patient, 6);
  }
}

TEST(FairOverTime, IsSaidPerTree) {
  const auto args = readQuotaArgs(
      json::Object{{"fairOverTime", json::Object{{"halfLife", "1h"}, {"trees", {"t1"}}}}});
  ASSERT_TRUE(args) << args.error().text();
  EXPECT_TRUE(args->isFair("t1"));
  EXPECT_FALSE(args->isFair(""));
  EXPECT_TRUE(readQuotaArgs(json::Object{{"fairOverTime", json::Object()}})->isFair(""));
  EXPECT_FALSE(readQuotaArgs(nullptr)->isFair("t1"));
}

TEST(QuotaHooks, CountPodsOfAQuotaAndThoseBelow) {
  QuotaLab lab(
      {{"hookPlugins", json::Array{json::Object{{"key", "pods"}, {"factoryKey", "PodCount"}}}}});
  lab.machine("n1", 100);
  lab.quota("top",
            {.max = 100, .isParent = true, .annotations = R"("quota.mangrove.io/max-pods":"3")"});
  lab.quota("a", {.max = 100, .parent = "top"});
  lab.quota("b", {.max = 100, .parent = "top"});
  for (int i = 0; i < 2; i++) lab.ask("a" + std::to_string(i), "a", 1);
  for (int i = 0; i < 2; i++) lab.ask("b" + std::to_string(i), "b", 1);
  lab.settle(2);
  EXPECT_EQ(lab.nodeOf("b1"), "");
  EXPECT_THAT(lab.said("b1"), HasSubstr("quota top has 3 pods"));
  lab.lab.takeLog();
  lab.lab.engine().report();
  EXPECT_THAT(lab.lab.takeLog(), Contains(HasSubstr(R"("quota.mangrove.io/pods":"3")")));
  lab.removePod("a0");
  lab.settle(2);
  EXPECT_EQ(lab.nodeOf("b1"), "n1");
}

// Gate SupportParentQuotaSubmitPod: admission lets them name it, and they count and are limited.
TEST(ParentQuotas, PodsOfAParentShareItsRoomWithItsChildren) {
  QuotaLab lab;
  lab.machine("n1", 100);
  lab.quota("top", {.max = 5, .isParent = true});
  lab.quota("leaf", {.max = 5, .parent = "top"});
  lab.ask("own", "top", 3);
  lab.ask("below", "leaf", 2);
  lab.run();
  EXPECT_EQ(lab.nodeOf("own"), "n1");
  EXPECT_EQ(lab.nodeOf("below"), "n1");
  EXPECT_EQ(lab.used("top"), "5");
  lab.ask("more", "leaf", 1);
  lab.run();
  EXPECT_EQ(lab.nodeOf("more"), "");
  EXPECT_THAT(lab.said("more"), HasSubstr("quotaName: top"));
}

}  // namespace
}  // namespace mangrove::placement
