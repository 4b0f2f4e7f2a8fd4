// Admission of the SLO ConfigMap: what is refused, what is warned of, and the linter for files.
#include <gtest/gtest.h>

#include "manager/webhook/configmap/lint.h"
#include "manager/webhook/configmap/overlap.h"
#include "manager/webhook/configmap/validate.h"
#include "manager/webhook/test_support.h"

namespace mangrove::manager {
namespace {

using testing::Asked;
using testing::clusterWith;

std::string reasonOf(const ConfigData& data, const std::vector<NodeLabels>& nodes = {},
                     bool namesRequired = false) {
  Findings warnings;
  auto trouble = firstTrouble(data, {}, {namesRequired, &nodes}, warnings);
  return trouble ? trouble->reason : "";
}

std::string entries(std::string_view a, std::string_view b) {
  return R"({"nodeConfigs":[{"name":"x","nodeSelector":)" + std::string(a) +
         R"(},{"name":"y","nodeSelector":)" + std::string(b) + "}]}";
}

TEST(ConfigAdmission, EntriesMustNotOverlap) {  // case 68
  const std::string nested =
      entries(R"({"matchLabels":{"a":"1"}})", R"({"matchLabels":{"a":"1","b":"2"}})");
  EXPECT_EQ(reasonOf({{"colocation-config", nested}}), "NodeStrategiesOverlap");
  const std::string apart = entries(R"({"matchLabels":{"a":"1"}})", R"({"matchLabels":{"b":"2"}})");
  EXPECT_EQ(reasonOf({{"colocation-config", apart}}), "");
  NodeLabels both{"n1", {{"a", "1"}, {"b", "2"}}};
  EXPECT_EQ(reasonOf({{"colocation-config", apart}}, {both}), "ExistNodeConfict");
}

TEST(ConfigAdmission, OverlapIsFoundOffTheDiagonalToo) {
  const std::string text = entries(
      R"({"matchExpressions":[{"key":"k","operator":"In","values":["a","b"]},{"key":"j","operator":"In","values":["c","d"]}]})",
      R"({"matchLabels":{"k":"a","j":"d"}})");
  EXPECT_EQ(overlapping(entriesOf("colocation-config", text)).size(), 2U);
}

TEST(ConfigAdmission, ThresholdsHaveAnUpperAboveALower) {  // case 69
  const auto threshold = [](std::string_view members) {
    return reasonOf(
        {{"resource-threshold-config", R"({"clusterStrategy":{)" + std::string(members) + "}}"}});
  };
  EXPECT_EQ(threshold(R"("memoryEvictThresholdPercent":22,"memoryEvictLowerPercent":35)"),
            "ConfigParamInvalid");
  EXPECT_EQ(threshold(R"("memoryEvictThresholdPercent":70,"memoryEvictLowerPercent":70)"),
            "ConfigParamInvalid");
  EXPECT_EQ(threshold(R"("memoryEvictThresholdPercent":-1)"), "ConfigParamInvalid");
  EXPECT_EQ(threshold(R"("memoryEvictThresholdPercent":101)"), "ConfigParamInvalid");
  EXPECT_EQ(threshold(R"("memoryEvictLowerPercent":80)"), "ConfigParamInvalid")
      << "above the default of 70 (C2)";
  EXPECT_EQ(threshold(R"("memoryEvictThresholdPercent":70)"), "") << "C2: the other has a default";
}

TEST(ConfigAdmission, BandwidthAddsUp) {  // case 70
  const auto qos = [](std::string_view lsr, std::string_view ls, std::string_view system = "") {
    ConfigData data{{"resource-qos-config",
                     R"({"clusterStrategy":{"lsrClass":{"networkQOS":{"ingressRequest":)" +
                         std::string(lsr) + R"(}},"lsClass":{"networkQOS":{"ingressRequest":)" +
                         std::string(ls) + "}}}}"}};
    if (!system.empty()) data["system-config"] = system;
    return reasonOf(data);
  };
  EXPECT_EQ(qos("50", "60"), "ConfigParamInvalid");
  EXPECT_EQ(qos(R"("50a")", "0"), "ConfigParamInvalid");
  EXPECT_EQ(qos(R"("500M")", "60"), "ConfigParamInvalid");
  EXPECT_EQ(qos("50", "0"), "");
  EXPECT_EQ(qos(R"("50M")", R"("50M")"), "") << "C4: quantities are not percents";
  const std::string_view slow = R"({"clusterStrategy":{"totalNetworkBandwidth":"80M"}})";
  EXPECT_EQ(qos(R"("50M")", R"("50M")", slow), "ConfigParamInvalid");
  EXPECT_EQ(qos("50", "50", slow), "");
}

TEST(ConfigAdmission, NamesAreAskedForOnlyWhenTold) {
  const ConfigData data{
      {"colocation-config", R"({"nodeConfigs":[{"nodeSelector":{"matchLabels":{"a":"1"}}}]})"}};
  EXPECT_EQ(reasonOf(data), "");
  EXPECT_EQ(reasonOf(data, {}, true), "ConfigParamInvalid");
}

TEST(ConfigAdmission, LooksAtWhatChangedOnly) {
  const auto map = [](std::string_view burst) {
    return R"({"metadata":{"labels":{"koordinator.sh/configmap-type":"slo-controller-config"}},)"
           R"("data":{"colocation-config":"broken","cpu-burst-config":")" +
           std::string(burst) + "\"}}";
  };
  Asked same(Operation::kUpdate, map("{}"), map(""));
  EXPECT_TRUE(validateConfigMap(same.request, clusterWith()).allowed);
  Asked changed(Operation::kUpdate, map("{"), map("{}"));
  const Review review = validateConfigMap(changed.request, clusterWith());
  EXPECT_EQ(review.reason, "ParseConfigFail");
  EXPECT_EQ(review.message.substr(0, 34), R"(___{"reason":"ParseConfigFail","me)");
  Asked created(Operation::kCreate, map("{}"));
  EXPECT_FALSE(validateConfigMap(created.request, clusterWith()).allowed);
}

TEST(ConfigAdmission, OtherConfigMapsAreNotOurs) {
  Asked asked(Operation::kCreate, R"({"metadata":{},"data":{"colocation-config":"broken"}})");
  EXPECT_TRUE(validateConfigMap(asked.request, clusterWith()).allowed);
}

constexpr std::string_view kFile = R"(apiVersion: v1
kind: ConfigMap
metadata:
  name: slo-controller-config
data:
  colocation-config: |
    {
      "enabel": true,
      "degradeTimeMinutes": 0
    }
  system-config: |
    {"clusterStrategy": {"minFreeKbytesFactor": 100
      "watermarkScaleFactor": 150}}
  sistem-config: "{}"
)";

TEST(ConfigLint, PointsIntoTheFile) {
  auto lint = lintConfig(kFile, "slo.yaml", {});
  ASSERT_TRUE(lint) << lint.error().text();
  std::vector<std::string> places;
  for (const LintLine& line : lint->lines)
    places.push_back(line.text().substr(0, line.text().find('\n')));
  EXPECT_EQ(lint->errors, 2U);
  EXPECT_EQ(lint->warnings, 2U);
  ASSERT_EQ(places.size(), 4U);
  EXPECT_EQ(
      places[0],
      "slo.yaml:8:17: warning: colocation-config: enabel: nobody reads 'enabel', did you mean "
      "'enable'?");
  EXPECT_EQ(places[1],
            "slo.yaml:9:29: error: colocation-config: degradeTimeMinutes: 0 is out of range, want "
            "at least 1");
  EXPECT_EQ(places[2],
            "slo.yaml: warning: sistem-config: nobody reads this key, did you mean "
            "'system-config'?");
  EXPECT_EQ(places[3].substr(0, 31), "slo.yaml:13:7: error: system-co") << places[3];
}

TEST(ConfigLint, KnowsABareKeyByNameOrMembers) {
  const std::string_view text = R"({"clusterStrategy":{"cpuSuppressThresholdPercent":165}})";
  for (const LintOptions& options :
       {LintOptions{}, LintOptions{.key = "resource-threshold-config"}}) {
    auto lint = lintConfig(text, "x.json", options);
    ASSERT_TRUE(lint) << lint.error().text();
    EXPECT_EQ(lint->keys, std::vector<std::string>{"resource-threshold-config"});
    EXPECT_EQ(lint->errors, 1U);
  }
  EXPECT_FALSE(lintConfig(text, "x.json", {.key = "colocation"}));
  EXPECT_EQ(lintConfig("{", "my-cpu-burst-config.json", {})->errors, 1U);
}

TEST(ConfigLint, SaysWhatAFileIsThatHasNothingToCheck) {
  const auto why = [](std::string_view text) {
    auto lint = lintConfig(text, "x.yaml", {});
    return lint ? "good" : lint.error().text();
  };
  EXPECT_EQ(why(" \n"),
            "x.yaml is empty; want a ConfigMap as YAML, or the JSON of one of its keys");
  EXPECT_EQ(
      why("a: 1\n---\nkind: Pod\n"),
      "x.yaml:3: \"Pod\" is no ConfigMap; want a ConfigMap as YAML, or the JSON of one of its "
      "keys");
  EXPECT_NE(why("data: [").find("x.yaml:1"), std::string::npos) << "where the YAML ends";
}

TEST(ConfigLint, NamesOverlapsBesideOtherErrorsAndRatiosThatCannotBeUsed) {
  auto lint = lintConfig(
      R"({"nodeConfigs":[{"name":"a","degradeTimeMinutes":0,"nodeSelector":{"matchLabels":{"p":"1"}}},)"
      R"({"name":"b","nodeSelector":{"matchLabels":{"p":"1","q":"2"}}}]})",
      "x", {.key = "colocation-config"});
  ASSERT_TRUE(lint) << lint.error().text();
  EXPECT_EQ(lint->errors, 2U);
  EXPECT_EQ(lint->lines.back().message, "the entries a and b match the same nodes");

  lint = lintConfig(R"({"enable":true,"ratioModel":{"X":{"baseRatio":7,"turboEnabledRatio":1.2}}})",
                    "x", {.key = "cpu-normalization-config"});
  ASSERT_EQ(lint->warnings, 1U);
  EXPECT_EQ(lint->lines[0].message,
            "ratioModel.X.baseRatio: 7 is out of range, want 1 to 5; nodes of that model keep the "
            "ratio they have");
  lint = lintConfig(R"({"resourceAmplificationRatio":{"cpu":0.5,"memory":1.5}})", "x",
                    {.key = "resource-amplification-config"});
  ASSERT_EQ(lint->warnings, 1U);
  EXPECT_TRUE(lint->lines[0].message.starts_with("resourceAmplificationRatio.cpu: 0.5 is below 1"));
}

}  // namespace
}  // namespace mangrove::manager
