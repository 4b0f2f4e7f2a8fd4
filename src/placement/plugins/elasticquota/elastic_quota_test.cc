// Quotas in the cycle: who may start, who is counted, who has to go.
#include "placement/plugins/elasticquota/elastic_quota.h"

#include <gmock/gmock.h>

#include "api/wire/names.h"
#include "placement/plugins/elasticquota/args.h"
#include "placement/plugins/elasticquota/report.h"
#include "placement/testing/quota_lab.h"

namespace mangrove::placement {
namespace {

using ::testing::HasSubstr;

TEST(ElasticQuota, RefusesWithTheQuotaTheResourceAndTheAmounts) {
  QuotaLab lab;
  lab.machine("n1", 100);
  lab.quota("q", {.min = 0, .max = 10});
  lab.ask("a", "q", 8);
  lab.run();
  lab.ask("b", "q", 3);
  lab.run();
  EXPECT_EQ(lab.nodeOf("a"), "n1");
  EXPECT_EQ(lab.nodeOf("b"), "");
  EXPECT_THAT(lab.said("b"),
              HasSubstr("Insufficient quotas, quotaName: q, runtime: cpu=10, used: cpu=8, pod's "
                        "request: cpu=3, exceedDimensions: [cpu]"));
  lab.removePod("a");
  lab.wait(std::chrono::seconds(2));
  lab.run();
  EXPECT_EQ(lab.nodeOf("b"), "n1");
}

TEST(ElasticQuota, ABlockedPodIsTriedAgainWhenItsQuotaGrows) {
  QuotaLab lab;
  lab.machine("n1", 100);
  lab.quota("q", {.min = 0, .max = 2});
  lab.ask("a", "q", 3);
  lab.run();
  EXPECT_EQ(lab.nodeOf("a"), "");
  lab.quota("q", {.min = 0, .max = 3});
  lab.wait(std::chrono::seconds(12));
  lab.run();
  EXPECT_EQ(lab.nodeOf("a"), "n1");
}

TEST(ElasticQuota, CountsOnceThroughFailedBindings) {
  QuotaLab lab;
  lab.machine("n1", 100);
  lab.quota("q", {.min = 0, .max = 10});
  lab.lab.refuseBindings = true;
  lab.ask("a", "q", 8);
  lab.run();
  EXPECT_EQ(lab.used("q"), "0");
  lab.lab.refuseBindings = false;
  lab.wait(std::chrono::seconds(20));
  lab.run();
  EXPECT_EQ(lab.nodeOf("a"), "n1");
  EXPECT_EQ(lab.used("q"), "8");
  lab.removePod("a");
  EXPECT_EQ(lab.used("q"), "0");
}

TEST(ElasticQuota, PreemptsInsideTheQuotaOnlyWhenItSuffices) {
  QuotaLab lab;
  lab.machine("n1", 100);
  lab.quota("q", {.min = 4, .max = 10});
  lab.quota("other", {.min = 0, .max = 100});
  lab.ask("low", "q", 4, 1);
  lab.ask("fixed", "q", 4,
          {.priority = 1, .labels = R"("quota.scheduling.koordinator.sh/preemptible":"false")"});
  lab.ask("stranger", "other", 10, 1);
  lab.run();
  lab.ask("big", "q", 9, 5);  // 4 would not be enough
  lab.run();
  EXPECT_NE(lab.find("low"), nullptr);
  EXPECT_EQ(lab.nodeOf("big"), "");
  lab.removePod("big");
  lab.ask("fits", "q", 5, 5);
  lab.run();
  lab.wait(std::chrono::seconds(2));
  lab.run();
  EXPECT_EQ(lab.find("low"), nullptr);
  EXPECT_NE(lab.find("stranger"), nullptr);
}

// Case 37: whom a pod may not replace.
TEST(ElasticQuota, NeitherEqualsNorTheDefaultQuotaArePreempted) {
  QuotaLab lab;
  lab.machine("n1", 10);
  lab.quota("q", {.max = 4});
  lab.ask("equal", "q", 4, 5);
  lab.ask("nobodys", "", 6, 1);  // in the default quota
  lab.run();
  lab.ask("wants", "q", 4, 5);
  lab.ask("alsoNobodys", "", 6, 1);
  lab.settle(4);
  EXPECT_EQ(lab.nodeOf("wants"), "");
  EXPECT_TRUE(lab.isThere("equal"));
  EXPECT_TRUE(lab.isThere("nobodys"));
}

// Case 38: short by ten, and the two nodes hold four each.
TEST(ElasticQuota, NobodyGoesWhereAllTogetherAreTooFew) {
  QuotaLab lab;
  lab.machine("a", 20);
  lab.machine("b", 20);
  lab.quota("q", {.max = 10});
  lab.ask("x", "q", 4, 1);
  lab.ask("y", "q", 4, 1);
  lab.run();
  lab.ask("big", "q", 11, 9);
  lab.settle(3);
  EXPECT_TRUE(lab.isThere("x"));
  EXPECT_TRUE(lab.isThere("y"));
  lab.removePod("big");
  lab.ask("fits", "q", 10, 9);  // both must go, wherever they are
  lab.settle(4);
  EXPECT_NE(lab.nodeOf("fits"), "");
}

TEST(ElasticQuota, ReclaimsWhatWasLentAndOnlyWithTheArgument) {
  for (const bool reclaim : {false, true}) {
    QuotaLab lab({{"reclaim", reclaim}});
    lab.machine("n1", 10);
    lab.quota("owner", {.min = 5, .max = 10});
    lab.quota("borrower", {.min = 5, .max = 10});
    for (int i = 0; i < 10; i++) lab.ask("b" + std::to_string(i), "borrower", 1, i);
    lab.run();
    lab.ask("mine", "owner", 3);
    lab.run();
    lab.wait(std::chrono::seconds(2));
    lab.run();
    EXPECT_EQ(lab.nodeOf("mine"), reclaim ? "n1" : "");
    int left = 0;
    for (int i = 0; i < 10; i++) left += lab.find("b" + std::to_string(i)) != nullptr;
    EXPECT_EQ(left, reclaim ? 7 : 10);
  }
}

TEST(ElasticQuota, SaysWhatMustHappenAndThePlaceInLine) {
  QuotaLab lab;
  lab.machine("n1", 100);
  lab.quota("q", {.min = 0, .max = 10});
  lab.ask("a", "q", 8);
  lab.run();
  lab.ask("b", "q", 3);
  lab.run();
  const auto pod = lab.find("b");
  const json::Value shown = lab.page("pods/" + std::string(pod->meta.uid.str()));
  EXPECT_FALSE(shown.as_object().at("admitted").as_bool());
  EXPECT_EQ(shown.as_object().at("mustHappen").as_array().at(0).as_string(),
            "1 of cpu must be given back by pods of quota q");
  EXPECT_EQ(json::write(shown.as_object().at("placeInLine")), "1");
}

TEST(ElasticQuotaArgs, NamesWhatIsWrong) {
  const auto bad = readQuotaArgs(json::Object{{"delayEvictTim", "1s"}});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().text(), HasSubstr("did you mean 'delayEvictTime'"));
  const auto hook = readQuotaArgs(json::Object{
      {"hookPlugins", json::Array{json::Object{{"key", "x"}, {"factoryKey", "PodCoun"}}}}});
  ASSERT_FALSE(hook);
  EXPECT_THAT(hook.error().text(), HasSubstr("did you mean 'PodCount'"));
  const auto fine = readQuotaArgs(json::Object{{"fairOverTime", json::Object{{"halfLife", "2h"}}}});
  ASSERT_TRUE(fine) << fine.error().text();
  EXPECT_EQ(fine->fairHalfLife, std::chrono::hours(2));
}

TEST(ElasticQuotaFigures, AreWrittenOnlyWhereTheyChanged) {
  api::ElasticQuota object;
  QuotaNumbers numbers;
  EXPECT_FALSE(figuresPatch(object, numbers));
  numbers.used = {{"cpu", 0}};
  EXPECT_FALSE(figuresPatch(object, numbers));
  numbers.used = {{"cpu", 1500}};
  numbers.runtime = {{"cpu", 2000}};
  const auto patch = figuresPatch(object, numbers);
  ASSERT_TRUE(patch);
  EXPECT_EQ(json::write(*patch),
            R"({"metadata":{"annotations":{"quota.scheduling.koordinator.sh/runtime":)"
            R"("{\"cpu\":\"2\"}"}},"status":{"used":{"cpu":"1500m"}}})");
}

}  // namespace
}  // namespace mangrove::placement
