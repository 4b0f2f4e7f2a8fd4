// Quotas in the cycle: who may start, who is counted, who has to go.
#include "placement/plugins/elasticquota/elastic_quota.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "api/wire/names.h"
#include "placement/plugins/elasticquota/args.h"
#include "placement/plugins/elasticquota/report.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

using ::testing::HasSubstr;

SchedulerConfig withArgs(const json::Object& args) {
  SchedulerConfig config = defaultConfig({"default-scheduler"});
  for (ProfileConfig& profile : config.profiles) profile.args["ElasticQuota"] = args;
  return config;
}

struct Quotas {
  explicit Quotas(const json::Object& args = {}) : lab(withArgs(args)) {}

  void removePod(std::string_view name) { lab.removePod(name); }
  void run() { lab.run(); }
  void wait(Duration duration) { lab.wait(duration); }
  std::string nodeOf(std::string_view pod) const { return lab.nodeOf(pod); }
  std::string said(std::string_view pod) const { return lab.said(pod); }
  std::shared_ptr<const api::Pod> find(std::string_view pod) const { return lab.find(pod); }

  void machine(const std::string& name, int cpu) {
    lab.node(fmt::format(
        R"({{"metadata":{{"name":"{}"}},"status":{{"allocatable":{{"cpu":"{}","pods":"110"}}}}}})",
        name, cpu));
  }
  void quota(const std::string& name, int min, int max, const std::string& parent = "",
             bool isParent = false) {
    const std::string text = fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"ns","labels":{{
             "quota.scheduling.koordinator.sh/parent":"{}",
             "quota.scheduling.koordinator.sh/is-parent":"{}"}}}},
            "spec":{{"min":{{"cpu":"{}"}},"max":{{"cpu":"{}"}}}}}})",
        name, parent, isParent, min, max);
    auto object = api::decodeText<api::ElasticQuota>(text);
    ASSERT_TRUE(object) << object.error().text();
    lab.cluster().putQuota("ns/" + name, std::make_shared<api::ElasticQuota>(std::move(*object)));
    ClusterEvent event;
    event.kind = EventKind::kQuota;
    lab.engine().happened(event);
  }
  void ask(const std::string& name, const std::string& quotaName, int cpu, int priority = 0,
           const std::string& more = "") {
    lab.pod(fmt::format(
        R"({{"metadata":{{"name":"{}","labels":{{
             "quota.scheduling.koordinator.sh/name":"{}"{}}}}},
            "spec":{{"priority":{},"containers":[{{"name":"c",
              "resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
        name, quotaName, more, priority, cpu));
  }
  json::Value page(const std::string& path) {
    return lab.engine().profiles().front()->find("ElasticQuota")->serve(path).value_or(nullptr);
  }
  std::string used(const std::string& name) {
    const json::Value shown = page("quotas/" + name);
    const json::Value* cpu = shown.as_object().at("used").as_object().if_contains("cpu");
    return cpu ? std::string(cpu->as_string()) : "0";
  }

  Lab lab;
};

TEST(ElasticQuota, RefusesWithTheQuotaTheResourceAndTheAmounts) {
  Quotas lab;
  lab.machine("n1", 100);
  lab.quota("q", 0, 10);
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
  Quotas lab;
  lab.machine("n1", 100);
  lab.quota("q", 0, 2);
  lab.ask("a", "q", 3);
  lab.run();
  EXPECT_EQ(lab.nodeOf("a"), "");
  lab.quota("q", 0, 3);
  lab.wait(std::chrono::seconds(12));
  lab.run();
  EXPECT_EQ(lab.nodeOf("a"), "n1");
}

TEST(ElasticQuota, CountsOnceThroughFailedBindings) {
  Quotas lab;
  lab.machine("n1", 100);
  lab.quota("q", 0, 10);
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
  Quotas lab;
  lab.machine("n1", 100);
  lab.quota("q", 4, 10);
  lab.quota("other", 0, 100);
  lab.ask("low", "q", 4, 1);
  lab.ask("fixed", "q", 4, 1, R"(,"quota.scheduling.koordinator.sh/preemptible":"false")");
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

TEST(ElasticQuota, ReclaimsWhatWasLentAndOnlyWithTheArgument) {
  for (const bool reclaim : {false, true}) {
    Quotas lab({{"reclaim", reclaim}});
    lab.machine("n1", 10);
    lab.quota("owner", 5, 10);
    lab.quota("borrower", 5, 10);
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
  Quotas lab;
  lab.machine("n1", 100);
  lab.quota("q", 0, 10);
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
  EXPECT_FALSE(readQuotaArgs(json::Object{{"hookPlugins", {json::Object{{"key", "x"}}}}}));
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
