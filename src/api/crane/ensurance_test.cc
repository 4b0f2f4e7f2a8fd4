#include "api/crane/ensurance.h"

#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "json/value.h"

namespace mangrove::api {
namespace {

TEST(CranePriority, ReadsNegativeRanges) {
  struct Row {
    const char* text;
    std::optional<PriorityRange> range;
  };
  for (const Row& row : {Row{"5", PriorityRange{5, 5}},
                         {"-100", PriorityRange{-100, -100}},
                         {"0-999", PriorityRange{0, 999}},
                         {"-100--1", PriorityRange{-100, -1}},
                         {"-5-7", PriorityRange{-5, 7}},
                         {"7-5", std::nullopt},
                         {"", std::nullopt},
                         {"-", std::nullopt},
                         {"a-b", std::nullopt}}) {
    const auto range = parsePriorityRange(row.text);
    EXPECT_EQ(range ? std::optional(*range) : std::nullopt, row.range) << row.text;
  }
}

PodQosSpec podsOf(const char* text) {
  return decodeText<PodQosSpec>(text).value();
}

TEST(PodQos, AllSelectorsMustMatchAndNoneMatchesNobody) {
  Labels labels;
  labels.set("app", "spark");
  const PodTraits pod{labels, "batch", "BestEffort", -50};
  struct Row {
    const char* spec;
    bool matches;
  };
  for (
      const Row& row :
      {Row{R"({"allowedActions":["evict"]})", false},
       {R"({"labelSelector":{}})", false},
       {R"({"labelSelector":{"matchLabels":{"app":"spark"}}})", true},
       {R"({"labelSelector":{"matchLabels":{"app":"web"}}})", false},
       {R"({"scopeSelector":{"matchExpressions":[{"scopeName":"QOSClass","operator":"In","values":["BestEffort"]}]}})",
        true},
       {R"({"scopeSelector":{"matchExpressions":[{"scopeName":"QOSClass","operator":"NotIn","values":["BestEffort"]}]}})",
        false},
       {R"({"scopeSelector":{"matchExpressions":[{"scopeName":"Priority","operator":"In","values":["-100--1"]}]}})",
        true},
       {R"({"scopeSelector":{"matchExpressions":[{"scopeName":"Namespace","operator":"In","values":["web"]}]}})",
        false},
       {R"({"labelSelector":{"matchLabels":{"app":"spark"}},"scopeSelector":{"matchExpressions":[{"scopeName":"Namespace","operator":"NotIn","values":["batch"]}]}})",
        false}})
    EXPECT_EQ(matchesPod(podsOf(row.spec), pod), row.matches) << row.spec;
}

TEST(CraneRules, AreTheSameAfterWritingAndReading) {
  const char* text =
      R"({"rules":{"q.cpu":{"name":"cpu","metricRule":{"name":"cpu_total_usage","value":"6k"},)"
      R"("avoidanceThreshold":2,"restoreThreshold":3,"actionName":"slow","strategy":"Preview"}},)"
      R"("actions":{"slow":{"coolDownSeconds":60,"throttle":{"cpuThrottle":{"minCPURatio":10,)"
      R"("stepCPURatio":20},"memoryThrottle":{"forceGC":true}},)"
      R"("eviction":{"terminationGracePeriodSeconds":30}}},)"
      R"("pods":{"be":{"scopeSelector":{"matchExpressions":[{"scopeName":"QOSClass",)"
      R"("operator":"In","values":["BestEffort"]}]},"allowedActions":["slow"]}}})";
  const auto rules = decodeText<CraneRules>(text);
  ASSERT_TRUE(rules) << rules.error().text();
  EXPECT_EQ(rules->rules.at("q.cpu").metricRule->value.value(), 6000);
  EXPECT_TRUE(json::equal(toJson(*rules), json::parse(text).value()))
      << json::write(toJson(*rules));
  EXPECT_EQ(allowedActions(*rules, {{}, "a", "BestEffort", 0}), std::vector<std::string>{"slow"});
  EXPECT_TRUE(allowedActions(*rules, {{}, "a", "Burstable", 0}).empty());
}

TEST(CraneRules, SayWhatIsWrong) {
  struct Row {
    const char* rule;
    const char* trouble;
  };
  for (const Row& row :
       {Row{R"({"name":"a","metricRule":{"name":"m","value":"1"},"actionName":"x"})", ""},
        {R"({"name":"a","actionName":"x"})", "metricRule"},
        {R"({"name":"a","metricRule":{"name":"m","value":"1"},"avoidanceThreshold":0})",
         "avoidanceThreshold"},
        {R"({"name":"a","metricRule":{"name":"m","value":"1"},"restoreThreshold":-1})",
         "restoreThreshold"},
        {R"({"name":"a","metricRule":{"name":"m","value":"1"},"strategy":"Maybe"})", "strategy"}}) {
    const auto ok = checkRule(decodeText<NodeQosRule>(row.rule).value());
    const std::string said = ok ? "" : ok.error().text();
    EXPECT_TRUE(*row.trouble ? said.find(row.trouble) != std::string::npos : said.empty()) << said;
  }
  EXPECT_FALSE(
      checkAction({.throttle = ThrottleSpec{CpuThrottleSpec{101, 10}, {}}, .eviction = {}}));
  EXPECT_FALSE(checkAction({.coolDownSeconds = 0, .throttle = {}, .eviction = {}}));
  EXPECT_TRUE(checkAction({}));
  EXPECT_FALSE(checkPodQos(podsOf(
      R"({"scopeSelector":{"matchExpressions":[{"scopeName":"Age","operator":"In","values":["1"]}]}})")));
}

}  // namespace
}  // namespace mangrove::api
