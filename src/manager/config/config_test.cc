#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/wire/names.h"
#include "json/yaml.h"
#include "manager/config/locate.h"
#include "manager/config/merge.h"
#include "manager/config/node_strategy.h"
#include "manager/config/parse.h"
#include "manager/config/slo_config.h"

namespace mangrove::manager {
namespace {

using ::testing::HasSubstr;
using Data = std::map<std::string, std::string>;

std::string fileText(const std::string& name) {
  std::ifstream in(std::string(MANGROVE_SOURCE_DIR) + "/test/data/manager/" + name);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

Data foundingData() {
  auto document = json::parseYamlDocument(fileText("founding-configmap.yaml"), "founding");
  EXPECT_TRUE(document) << (document ? "" : document.error().text());
  Data out;
  for (const auto& [key, value] : document->at("data").as_object())
    out[std::string(key)] = std::string(value.as_string());
  return out;
}

api::ObjectMeta nodeWith(api::Labels labels, api::Annotations annotations = {}) {
  api::ObjectMeta out;
  out.name = "n1";
  out.labels = std::move(labels);
  out.annotations = std::move(annotations);
  return out;
}

// The document the project was founded on: its system-config lacks a comma.
TEST(FoundingConfigMap, ReportsTheMissingCommaAndUsesTheRest) {
  const Data data = foundingData();
  ASSERT_EQ(data.size(), 6u);
  const auto load = loadConfig({}, &data);
  ASSERT_EQ(load.findings.size(), 1u) << load.findings[1].text();
  const Finding& finding = load.findings[0];
  EXPECT_EQ(finding.key, "system-config");
  EXPECT_EQ(finding.kind, FindingKind::kSyntax);
  EXPECT_EQ(finding.line, 7u);
  EXPECT_EQ(finding.column, 3u);
  EXPECT_THAT(finding.message, HasSubstr("want ','"));
  EXPECT_THAT(finding.excerpt, HasSubstr("\"nodeStrategies\": ["));
  EXPECT_THAT(finding.excerpt, HasSubstr("^"));
  EXPECT_EQ(eventReasonOf(finding.key), "SLOCfgUnmarshalFailed");
  EXPECT_FALSE(load.state.system.available);
}

TEST(FoundingConfigMap, ItsNodeEntriesHoldForTheirNodes) {
  const Data data = foundingData();
  const auto config = loadConfig({}, &data).state;
  const auto anolis = nodeWith({{"kubernetes.io/kernel", "anolis"}});
  const auto other = nodeWith({});
  const auto& colocation = config.colocation.config;
  EXPECT_EQ(colocationFor(colocation, anolis).strategy.updateTimeThresholdSeconds, 360);
  EXPECT_EQ(colocationFor(colocation, anolis).strategy.resourceDiffThreshold, 0.2);
  EXPECT_EQ(colocationFor(colocation, other).strategy.updateTimeThresholdSeconds, 300);
  const auto slo = renderNodeSlo(config, anolis).spec;
  EXPECT_EQ(slo.resourceUsedThresholdWithBe->cpuEvictBEUsageThresholdPercent, Percent{80});
  EXPECT_EQ(slo.resourceUsedThresholdWithBe->memoryEvictLowerPercent, Percent{65});
  EXPECT_EQ(slo.resourceQosStrategy->beClass->memoryQos->wmarkRatio, 90);
  EXPECT_EQ(slo.resourceQosStrategy->beClass->memoryQos->wmarkMinAdj, 50);
  EXPECT_EQ(slo.cpuBurstStrategy->policy, "cfsQuotaBurstOnly");
  EXPECT_EQ(slo.cpuBurstStrategy->cfsQuotaBurstPercent, Percent{400});
  ASSERT_EQ(slo.hostApplications.size(), 1u);
  EXPECT_EQ(slo.hostApplications[0].name, "nginx");
  EXPECT_EQ(renderNodeSlo(config, other).spec.cpuBurstStrategy->policy, "none");
}

struct Faulty {
  const char* key;
  const char* text;
  FindingKind kind;
  Severity severity;
  const char* path;
  const char* says;
  bool keyHolds;
};

class FaultyText : public ::testing::TestWithParam<Faulty> {};

TEST_P(FaultyText, IsReportedWithItsPlace) {
  const auto& c = GetParam();
  const auto findings = checkKey(c.key, c.text);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findingKindName(findings[0].kind), findingKindName(c.kind));
  EXPECT_EQ(findings[0].severity, c.severity);
  EXPECT_EQ(findings[0].path, c.path);
  EXPECT_THAT(findings[0].message, HasSubstr(c.says));
  const Data data = {{c.key, c.text}};
  const auto state = loadConfig({}, &data).state;
  const bool holds = state.colocation.available && state.threshold.available &&
                     state.qos.available && state.burst.available && state.system.available &&
                     state.hostApplications.available && state.normalization.available &&
                     state.amplification.available;
  EXPECT_EQ(holds, c.keyHolds);
}

constexpr auto kError = Severity::kError;
constexpr auto kWarning = Severity::kWarning;

INSTANTIATE_TEST_SUITE_P(
    Keys, FaultyText,
    ::testing::Values(
        Faulty{"colocation-config", "", FindingKind::kSyntax, kError, "", "empty", false},
        Faulty{"colocation-config", "invalid", FindingKind::kSyntax, kError, "", "", false},
        Faulty{"colocation-config", "[]", FindingKind::kSyntax, kError, "", "want an object",
               false},
        Faulty{"colocation-config", R"({"enable":"yes"})", FindingKind::kSyntax, kError, "enable",
               "want true or false", false},
        Faulty{"colocation-config", R"({"degradeTimeMinutes":0})", FindingKind::kRange, kError,
               "degradeTimeMinutes", "at least 1", false},
        Faulty{"colocation-config", R"({"cpuReclaimThresholdPercent":-1})", FindingKind::kRange,
               kError, "cpuReclaimThresholdPercent", "at least 0", false},
        Faulty{"colocation-config", R"({"cpuReclaimTresholdPercent":50})", FindingKind::kUnknown,
               kWarning, "cpuReclaimTresholdPercent", "did you mean 'cpuReclaimThresholdPercent'",
               true},
        Faulty{"colocation-config", R"({"memoryCalculatePolicy":"requests"})",
               FindingKind::kUnknown, kWarning, "memoryCalculatePolicy", "did you mean 'request'",
               true},
        Faulty{
            "colocation-config",
            R"({"nodeConfigs":[{"name":"a","nodeSelector":{},"metricAggregateDurationSeconds":-1}]})",
            FindingKind::kRange, kError, "nodeConfigs[0].metricAggregateDurationSeconds",
            "at least 1", true},
        Faulty{"colocation-config", R"({"nodeConfigs":[{"name":"a"}]})", FindingKind::kSelector,
               kError, "nodeConfigs[0]", "no nodeSelector", true},
        Faulty{
            "resource-threshold-config",
            R"({"clusterStrategy":{"memoryEvictThresholdPercent":22,"memoryEvictLowerPercent":35}})",
            FindingKind::kRange, kError, "clusterStrategy.memoryEvictLowerPercent",
            "not below memoryEvictThresholdPercent", false},
        // The sibling's default counts.
        Faulty{"resource-threshold-config", R"({"clusterStrategy":{"memoryEvictLowerPercent":70}})",
               FindingKind::kRange, kError, "clusterStrategy.memoryEvictLowerPercent", "(70)",
               false},
        Faulty{"resource-threshold-config", R"({"clusterStrategy":{"cpuSuppressMinPercent":101}})",
               FindingKind::kRange, kError, "clusterStrategy.cpuSuppressMinPercent", "0 to 100",
               false},
        Faulty{"resource-qos-config",
               R"({"clusterStrategy":{"beClass":{"cpuQOS":{"groupIdentity":3}}}})",
               FindingKind::kRange, kError, "clusterStrategy.beClass.cpuQOS.groupIdentity",
               "-1 to 2", false},
        Faulty{"resource-qos-config",
               R"({"clusterStrategy":{"lsClass":{"networkQOS":{"ingressRequest":"50a"}}}})",
               FindingKind::kRange, kError, "clusterStrategy.lsClass.networkQOS.ingressRequest",
               "no quantity", false},
        Faulty{"resource-qos-config", R"({"nodeStrategies":[{"nodeSelector":{},"beClas":{}}]})",
               FindingKind::kUnknown, kWarning, "nodeStrategies[0].beClas",
               "did you mean 'beClass'", true},
        Faulty{"cpu-burst-config", R"({"clusterStrategy":{"policy":"on"}})", FindingKind::kUnknown,
               kWarning, "clusterStrategy.policy", "none, cpuBurstOnly", true},
        Faulty{"system-config", R"({"clusterStrategy":{"watermarkScaleFactor":401}})",
               FindingKind::kRange, kError, "clusterStrategy.watermarkScaleFactor",
               "above 0, at most 400", false},
        Faulty{"host-application-config", R"({"applications":{}})", FindingKind::kSyntax, kError,
               "applications", "array", false},
        Faulty{"slo-config", "{}", FindingKind::kUnknown, kWarning, "", "nobody reads this key",
               true}));

TEST(Config, KeepsTheLastGoodValueOfEachKeyAlone) {
  const Data first = {{"resource-threshold-config", R"({"clusterStrategy":{"enable":true}})"}};
  const Data second = {{"resource-threshold-config", "invalid"},
                       {"cpu-burst-config", R"({"clusterStrategy":{"policy":"auto"}})"}};
  const auto before = loadConfig({}, &first).state;
  const auto load = loadConfig(before, &second);
  EXPECT_EQ(load.findings.size(), 1u);
  EXPECT_TRUE(load.state.threshold.wrong);
  EXPECT_TRUE(*load.state.threshold.config.cluster.enable);
  EXPECT_EQ(load.state.burst.config.cluster.policy, "auto");
  // A key that is gone has its default again; so has everything when the ConfigMap is gone.
  const auto gone = loadConfig(load.state, nullptr).state;
  EXPECT_FALSE(*gone.threshold.config.cluster.enable);
  EXPECT_TRUE(gone.errorStatus());
}

TEST(Config, InvalidAtStartIsUnavailable) {
  const Data data = {{"colocation-config", "invalid"}};
  const auto load = loadConfig({}, &data);
  EXPECT_FALSE(load.state.colocation.available);
  EXPECT_TRUE(load.state.errorStatus());
  EXPECT_EQ(eventReasonOf(load.findings.at(0).key), "ColocationCfgUnmarshalFailed");
}

// Cases 33 (amounts are rounded, not cut off) and 34 of noderesource/spec_cases_test.cc.
TEST(NodeStrategy, LabelsOverAnnotationOverCluster) {
  const auto parsed = parseColocation(R"({"enable":true,"cpuReclaimThresholdPercent":60})");
  const auto percent = [&](const char* label) {
    const auto node =
        nodeWith({{api::label::kCpuReclaimRatio, label}},
                 {{api::annotation::kColocationStrategy, R"({"cpuReclaimThresholdPercent":100})"}});
    return colocationFor(*parsed.config, node).strategy.cpuReclaimThresholdPercent->v;
  };
  EXPECT_EQ(percent("0.7"), 70);
  EXPECT_EQ(percent("0.57"), 57);
  EXPECT_EQ(percent("-1"), 100);
  EXPECT_EQ(percent("abc"), 100);
}

TEST(NodeStrategy, AnAnnotationOutOfRangeIsIgnoredAsAWhole) {
  const auto parsed = parseColocation(R"({"enable":true})");
  for (const char* text : {R"({"degradeTimeMinutes":0,"cpuReclaimThresholdPercent":80})", "{bad"}) {
    const auto node = nodeWith({}, {{api::annotation::kColocationStrategy, text}});
    const auto got = colocationFor(*parsed.config, node);
    EXPECT_EQ(got.strategy.cpuReclaimThresholdPercent, Percent{60}) << text;
    EXPECT_THAT(got.ignored, HasSubstr("is ignored")) << text;
  }
}

TEST(NodeStrategy, AnEntryOutOfRangeBecomesTheClusters) {
  const auto parsed = parseColocation(
      R"({"cpuReclaimThresholdPercent":70,"nodeConfigs":[{"nodeSelector":{},"enable":true,"metricAggregateDurationSeconds":-1}]})");
  ASSERT_TRUE(parsed.config);
  EXPECT_EQ(parsed.config->forNode({}), parsed.config->cluster);
}

TEST(NodeSlo, AnInvalidBandwidthLeavesTheSystemStrategyOut) {
  const auto node = nodeWith({}, {{api::annotation::kNetworkBandwidth, "fast"}});
  const auto rendered = renderNodeSlo(loadConfig({}, nullptr).state, node);
  EXPECT_FALSE(rendered.spec.systemStrategy);
  EXPECT_FALSE(rendered.trouble.empty());
}

// What an entry does not say it does not take away.
TEST(NodeSlo, AnEntryWithoutBandwidthKeepsTheClusters) {
  const std::map<std::string, std::string> data = {
      {"system-config",
       R"({"clusterStrategy":{"totalNetworkBandwidth":"10G"},"nodeStrategies":[
           {"name":"a","nodeSelector":{"matchLabels":{"a":"1"}},"watermarkScaleFactor":200},
           {"name":"b","nodeSelector":{"matchLabels":{"b":"1"}},"totalNetworkBandwidth":"5G"}]})"}};
  const auto config = loadConfig({}, &data).state;
  const auto bandwidth = [&](const char* label) {
    const auto rendered = renderNodeSlo(config, nodeWith({{label, "1"}}, {}));
    return rendered.spec.systemStrategy->totalNetworkBandwidth;
  };
  EXPECT_EQ(bandwidth("a"), *Quantity::parse("10G"));
  EXPECT_EQ(bandwidth("b"), *Quantity::parse("5G"));
  EXPECT_EQ(bandwidth("c"), *Quantity::parse("10G"));
}

TEST(Merge, ReplacesListsAndWholeMapValues) {
  api::BlkioQosConfig base, upper;
  base.blocks = {{"a", "device", {}}, {"b", "device", {}}};
  base.enable = true;
  upper.blocks = {{"c", "", {}}};
  const auto both = merged(base, upper);
  ASSERT_EQ(both.blocks.size(), 1u);
  EXPECT_EQ(both.blocks[0].type, "");  // nothing leaks from the element below
  EXPECT_EQ(both.enable, true);

  CpuNormalization model, other;
  model.ratioModel["x"] = {1.0, 2.0, {}, {}};
  other.ratioModel["x"] = {{}, 3.0, {}, {}};
  const auto ratios = merged(model, other).ratioModel.at("x");
  EXPECT_FALSE(ratios.base);
  EXPECT_EQ(ratios.hyperThread, 3.0);
}

TEST(Locate, FindsValuesAndSurvivesAnything) {
  const std::string text = R"({"a" : [1, {"b\"c": "x]"}, {"d": true}]})";
  EXPECT_EQ(text.substr(locate(text, "a[2].d"), 4), "true");
  EXPECT_EQ(text.substr(locate(text, "a[0]"), 1), "1");
  EXPECT_EQ(text[locate(text, "a[9]")], '[');
  for (size_t cut = 0; cut <= text.size(); cut++)
    EXPECT_LE(locate(text.substr(0, cut), "a[2].d"), cut);
}

}  // namespace
}  // namespace mangrove::manager
