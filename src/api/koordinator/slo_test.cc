// NodeSLO, NodeMetric and the strategies in them.
#include <gtest/gtest.h>

#include "api/koordinator/node_metric.h"
#include "api/koordinator/node_slo.h"
#include "api/wire/write.h"
#include "json/value.h"

namespace mangrove::api {
namespace {

using namespace std::chrono_literals;

template <class T>
std::string echo(std::string_view text) {
  auto value = decodeText<T>(text);
  return value ? json::write(toJson(*value)) : "error: " + value.error().text();
}

TEST(NodeSlo, DefaultSpecInExactBytes) {
  NodeSloSpec spec;
  auto& threshold = spec.resourceUsedThresholdWithBe.emplace();
  threshold.enable = false;
  threshold.cpuSuppressThresholdPercent = Percent{65};
  threshold.cpuSuppressPolicy = "cpuset";
  threshold.memoryEvictThresholdPercent = Percent{70};
  threshold.cpuEvictPolicy = "evictByRealLimit";
  spec.resourceQosStrategy.emplace();
  auto& burst = spec.cpuBurstStrategy.emplace();
  burst.policy = "none";
  burst.cpuBurstPercent = Percent{1000};
  burst.cfsQuotaBurstPercent = Percent{300};
  burst.cfsQuotaBurstPeriodSeconds = -1;
  burst.sharePoolThresholdPercent = Percent{50};
  spec.systemStrategy.emplace().totalNetworkBandwidth = Quantity();
  spec.extensions.emplace();
  const char* text =
      R"({"resourceUsedThresholdWithBE":{"enable":false,"cpuSuppressThresholdPercent":65,)"
      R"("cpuSuppressPolicy":"cpuset","memoryEvictThresholdPercent":70,)"
      R"("cpuEvictPolicy":"evictByRealLimit"},"resourceQOSStrategy":{},)"
      R"("cpuBurstStrategy":{"policy":"none","cpuBurstPercent":1000,"cfsQuotaBurstPercent":300,)"
      R"("cfsQuotaBurstPeriodSeconds":-1,"sharePoolThresholdPercent":50},)"
      R"("systemStrategy":{"totalNetworkBandwidth":"0"},"extensions":{"Object":{}}})";
  EXPECT_EQ(json::write(toJson(spec)), text);
  EXPECT_EQ(decodeText<NodeSloSpec>(text).value(), spec);
}

TEST(NodeSlo, ExtensionsAreReadNestedAndFlat) {
  struct Row {
    const char* text;
    const char* written;
  };
  for (auto [text, written] :
       {Row{R"({"extensions":{"Object":{"a":{"b":1}}}})",
            R"({"extensions":{"Object":{"a":{"b":1}}}})"},
        {R"({"extensions":{"a":{"b":1}}})", R"({"extensions":{"Object":{"a":{"b":1}}}})"},
        {R"({"extensions":{"Object":null}})", R"({"extensions":{"Object":{}}})"},
        {R"({"extensions":{}})", R"({"extensions":{"Object":{}}})"},
        {R"({"extensions":null})", "{}"},
        {R"({"extensions":[]})", "error: extensions: found array, want an object"}})
    EXPECT_EQ(echo<NodeSloSpec>(text), written) << text;
}

TEST(NodeSlo, EveryStrategyRoundTrips) {
  const char* text =
      R"({"resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressThresholdPercent":65,)"
      R"("cpuSuppressMinPercent":5,"cpuSuppressPolicy":"cfsQuota","memoryEvictThresholdPercent":70,)"
      R"("memoryEvictLowerPercent":60,"memoryAllocatableEvictThresholdPercent":110,)"
      R"("memoryAllocatableEvictLowerPercent":100,"cpuEvictBESatisfactionUpperPercent":90,)"
      R"("cpuEvictBESatisfactionLowerPercent":20,"cpuEvictBEUsageThresholdPercent":80,)"
      R"("cpuEvictTimeWindowSeconds":300,"cpuEvictThresholdPercent":85,"cpuEvictLowerPercent":83,)"
      R"("cpuAllocatableEvictThresholdPercent":120,"cpuAllocatableEvictLowerPercent":110,)"
      R"("cpuEvictPolicy":"evictByAllocatable","evictEnabledPriorityThreshold":5999,)"
      R"("allocatableEvictPriorityThreshold":7999},)"
      R"("resourceQOSStrategy":{"policies":{"cpuPolicy":"coreSched","netQOSPolicy":"terway-qos"},)"
      R"("lsrClass":{"cpuQOS":{"enable":true,"groupIdentity":2,"schedIdle":0,"coreExpeller":true},)"
      R"("memoryQOS":{"enable":true,"minLimitPercent":0,"lowLimitPercent":1,"throttlingPercent":2,)"
      R"("wmarkRatio":95,"wmarkScalePermill":20,"wmarkMinAdj":-25,"pageCacheEnable":true,)"
      R"("pageCacheLimitPercent":30,"pageCacheLimitSize":1048576,"pageCacheReclaimSync":false,)"
      R"("priorityEnable":0,"priority":0,"oomKillGroup":0},)"
      R"("blkioQOS":{"enable":true,"blocks":[{"name":"/dev/vdb","type":"device","ioCfg":{)"
      R"("readIOPS":1,"writeIOPS":2,"readBPS":3,"writeBPS":4,"ioWeightPercent":100,"readLatency":5,)"
      R"("writeLatency":6,"readLatencyPercent":95,"writeLatencyPercent":96,"enableUserModel":true,)"
      R"("modelReadBPS":7,"modelWriteBPS":8,"modelReadSeqIOPS":9,"modelWriteSeqIOPS":10,)"
      R"("modelReadRandIOPS":11,"modelWriteRandIOPS":12}}]},)"
      R"("resctrlQOS":{"enable":true,"catRangeStartPercent":0,"catRangeEndPercent":100,)"
      R"("mbaPercent":90},"networkQOS":{"enable":true,"ingressRequest":10,"ingressLimit":"1G",)"
      R"("egressRequest":"10M","egressLimit":100}},)"
      R"("lsClass":{},"beClass":{"cpuQOS":{"enable":false}},"systemClass":{},"cgroupRoot":{}},)"
      R"("cpuBurstStrategy":{"policy":"auto","sharePoolThresholdPercent":50},)"
      R"("systemStrategy":{"minFreeKbytesFactor":100,"watermarkScaleFactor":150,)"
      R"("memcgReapBackGround":0,"schedGroupIdentityEnabled":1,"schedIdleSaverWmark":-1,)"
      R"("schedFeatures":{"ID_EXPELLER":true},"pageCacheLimitEnabled":1,)"
      R"("totalNetworkBandwidth":"25G"},)"
      R"("hostApplications":[{"name":"nginx","priority":"koord-prod","qos":"LS","cgroupPath":)"
      R"({"base":"CgroupRoot","parentDir":"host","relativePath":"nginx/"},"strategy":{}}]})";
  EXPECT_EQ(echo<NodeSloSpec>(text), text);
}

TEST(NodeSlo, BadInputNamesThePath) {
  struct Row {
    const char* text;
    const char* error;
  };
  for (auto [text, error] :
       {Row{R"({"spec":{"resourceUsedThresholdWithBE":{"cpuSuppressThresholdPercent":"65"}}})",
            "spec.resourceUsedThresholdWithBE.cpuSuppressThresholdPercent: found string '65', want "
            "an integer"},
        {R"({"spec":{"resourceQOSStrategy":{"beClass":{"cpuQOS":{"enable":1}}}}})",
         "spec.resourceQOSStrategy.beClass.cpuQOS.enable: found number 1, want true or false"},
        {R"({"spec":{"hostApplications":[{"name":"a"},{"cgroupPath":[]}]}})",
         "spec.hostApplications[1].cgroupPath: found array, want an object"},
        {R"({"spec":{"systemStrategy":{"totalNetworkBandwidth":"x"}}})",
         "spec.systemStrategy.totalNetworkBandwidth: 'x' is not a quantity"}}) {
    auto slo = decodeText<NodeSlo>(text);
    ASSERT_FALSE(slo) << text;
    EXPECT_EQ(slo.error().text(), error);
  }
}

constexpr const char* kMetric = R"({
  "apiVersion":"slo.koordinator.sh/v1alpha1","kind":"NodeMetric","metadata":{"name":"n1"},
  "spec":{"metricCollectPolicy":{"aggregateDurationSeconds":300,"reportIntervalSeconds":60,
    "nodeAggregatePolicy":{"durations":["5m0s","10m0s"]},
    "nodeMemoryCollectPolicy":"usageWithoutPageCache"}},
  "status":{"updateTime":"2026-03-01T12:00:00Z",
    "nodeMetric":{"nodeUsage":{"resources":{"cpu":"1500m","memory":"2Gi"},"devices":[{"type":"gpu",
        "id":"GPU-1","minor":0,"health":false,"resources":{"koordinator.sh/gpu-core":"50"}}]},
      "aggregatedNodeUsages":[{"usage":{"avg":{"resources":{"cpu":"1"}},"p50":{},
        "p99":{"resources":{"cpu":"4"}}},"duration":"5m0s"}],
      "systemUsage":{"resources":{"cpu":"100m"}},
      "numaUsages":[{"numaNodeID":1,"nodeUsage":{"resources":{"cpu":"1"}},"systemUsage":{}}]},
    "podsMetric":[{"name":"p","namespace":"d","podUsage":{"resources":{"cpu":"300m"}},
      "priority":"koord-batch","qos":"BE","extensions":{"Object":{"cold":{"pages":7}}}}],
    "hostApplicationMetric":[{"name":"nginx","usage":{"resources":{"cpu":"10m"}},
      "priority":"koord-prod","qos":"LS"}],
    "prodReclaimableMetric":{"resource":{"resources":{"cpu":"3"}}},
    "prodPeakMetric":{"resource":{}}}})";

TEST(NodeMetric, RoundTrips) {
  auto metric = decodeText<NodeMetric>(kMetric);
  ASSERT_TRUE(metric) << metric.error().text();
  const auto original = json::parse(kMetric).value();
  EXPECT_EQ(json::write(toJson(metric->status)), json::write(original.at("status")));
  EXPECT_EQ(json::write(toJson(metric->spec)), json::write(original.at("spec")));
}

TEST(NodeMetric, IsReadIntoArrays) {
  auto metric = decodeText<NodeMetric>(kMetric).value();
  const auto& report = *metric.status.nodeMetric;
  EXPECT_EQ(report.nodeUsage.resources.cpu(), MilliCpu{1500});
  const AggregatedUsage* usage = usageOver(report.aggregatedNodeUsages, 5min);
  ASSERT_NE(usage, nullptr);
  EXPECT_EQ(usage->at(Aggregation::kP99)->resources.cpu(), MilliCpu{4000});
  EXPECT_TRUE(usage->at(Aggregation::kP50)->resources.empty());
  EXPECT_EQ(usage->at(Aggregation::kP95), nullptr);
  EXPECT_EQ(usageOver(report.aggregatedNodeUsages, 30min), nullptr);
  EXPECT_EQ(metric.status.podsMetric[0].qos.view(), "BE");
  EXPECT_EQ(aggregationOf("p90"), Aggregation::kP90);
  EXPECT_EQ(aggregationOf("max"), std::nullopt);
}

TEST(NodeMetric, OddInput) {
  auto unknown = decodeText<NodeMetric>(
      R"({"status":{"nodeMetric":{"aggregatedNodeUsages":[{"usage":{"p75":{"resources":1}}}]}}})");
  EXPECT_TRUE(unknown);
  EXPECT_EQ(decodeText<NodeMetric>("{}").value().status, NodeMetricStatus{});
  auto bad = decodeText<NodeMetric>(
      R"({"status":{"podsMetric":[{"podUsage":{"resources":{"cpu":"1 core"}}}]}})");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().text(),
            "status.podsMetric[0].podUsage.resources.cpu: '1 core' is not a quantity");
}

}  // namespace
}  // namespace mangrove::api
