// Annotations and labels of nodes and of their NodeResourceTopology.
#include "api/annotations/node.h"

#include <gtest/gtest.h>

#include "api/annotations/topology.h"
#include "api/koordinator/colocation_strategy.h"

namespace mangrove::api {
namespace {

Annotations with(std::string_view key, std::string_view value) {
  return Annotations{{key, value}};
}

TEST(NodeReservation, AmountsAndCpus) {
  struct Row {
    const char* value;
    ResourceList amounts;
    ReservedCpus cpus;
  };
  for (const auto& [value, amounts, cpus] :
       {Row{R"({"reservedCPUs":"0-5"})", {{"cpu", "6"}}, {"0-5", 0}},
        {R"({"reservedCPUs":"7,1-2","resources":{"cpu":"99","memory":"1Gi"}})",
         {{"cpu", "3"}, {"memory", "1Gi"}},
         {"7,1-2", 0}},
        {R"({"resources":{"cpu":"2500m"}})", {{"cpu", "2500m"}}, {"", 3}},
        {R"({"resources":{"cpu":"2"}})", {{"cpu", "2"}}, {"", 2}},
        {R"({"resources":{"cpu":"-1"}})", {{"cpu", "-1"}}, {"", 0}},
        {R"({"resources":{"memory":"1Gi"}})", {{"memory", "1Gi"}}, {"", 0}},
        {"{}", {}, {"", 0}}}) {
    const auto reservation = parseNodeReservation(with(annotation::kNodeReservation, value));
    ASSERT_TRUE(reservation && *reservation) << value;
    EXPECT_EQ(reservedAmounts(**reservation).value(), amounts) << value;
    EXPECT_EQ(reservedCpus(**reservation), cpus) << value;
  }
}

TEST(NodeReservation, AbsentEmptyAndBad) {
  EXPECT_EQ(parseNodeReservation({}).value(), std::nullopt);
  EXPECT_EQ(parseNodeReservation(with(annotation::kNodeReservation, "")).value(), std::nullopt);
  EXPECT_FALSE(parseNodeReservation(with(annotation::kNodeReservation, "{")));
  EXPECT_FALSE(
      parseNodeReservation(with(annotation::kNodeReservation, R"({"resources":{"cpu":"x"}})")));
  // CPUs that are no list void the memory as well.
  const auto bad = parseNodeReservation(
      with(annotation::kNodeReservation, R"({"reservedCPUs":"a-b","resources":{"memory":"1Gi"}})"));
  ASSERT_TRUE(bad && *bad);
  EXPECT_FALSE(reservedAmounts(**bad));
  const auto only = parseNodeReservation(
      with(annotation::kNodeReservation, R"({"applyPolicy":"ReservedCPUsOnly"})"));
  EXPECT_TRUE((*only)->isCpusOnly());
  EXPECT_EQ(annotationText(**only), R"({"applyPolicy":"ReservedCPUsOnly"})");
}

TEST(SystemQosResource, IsExclusiveUnlessSaid) {
  const auto parse = [](std::string_view value) {
    return parseSystemQosResource(with(annotation::kSystemQosResource, value));
  };
  EXPECT_TRUE((*parse(R"({"cpuset":"0-3"})"))->isExclusive());
  EXPECT_TRUE((*parse(R"({"cpusetExclusive":true})"))->isExclusive());
  EXPECT_FALSE((*parse(R"({"cpuset":"0-3","cpusetExclusive":false})"))->isExclusive());
  EXPECT_FALSE(parse(R"({"cpusetExclusive":"true"})"));
  EXPECT_FALSE(parse(""));
}

TEST(NetworkBandwidth, IsAQuantity) {
  struct Row {
    const char* value;
    const char* expected;
  };
  for (auto [value, expected] : {Row{"10G", "10G"}, {"1000M", "1G"}, {"-1", "-1"}})
    EXPECT_EQ(parseNetworkBandwidth(with(annotation::kNetworkBandwidth, value)).value()->text(),
              expected);
  EXPECT_FALSE(parseNetworkBandwidth(with(annotation::kNetworkBandwidth, "")));
  EXPECT_FALSE(parseNetworkBandwidth(with(annotation::kNetworkBandwidth, "10Gbps")));
  EXPECT_EQ(parseNetworkBandwidth({}).value(), std::nullopt);
}

TEST(CpuNormalizationRatio, MustBeAboveZero) {
  const auto parse = [](std::string_view value) {
    return parseCpuNormalizationRatio(with(annotation::kCpuNormalizationRatio, value));
  };
  EXPECT_EQ(parse("1.20").value(), 1.2);
  EXPECT_EQ(parse("0.01").value(), 0.01);
  for (const char* bad : {"", "0", "-1", "-0.5", "x", "1.2x", "1,2"})
    EXPECT_FALSE(parse(bad)) << bad;
  EXPECT_EQ(parseCpuNormalizationRatio({}).value(), std::nullopt);
  EXPECT_EQ(formatCpuNormalizationRatio(1.2), "1.20");
  EXPECT_EQ(formatCpuNormalizationRatio(3.1415926), "3.14");
}

TEST(CpuNormalizationEnabled, IsAGoBool) {
  EXPECT_EQ(parseCpuNormalizationEnabled({}).value(), std::nullopt);
  EXPECT_EQ(parseCpuNormalizationEnabled({{label::kCpuNormalizationEnabled, "T"}}).value(), true);
  EXPECT_EQ(parseCpuNormalizationEnabled({{label::kCpuNormalizationEnabled, "0"}}).value(), false);
  EXPECT_FALSE(parseCpuNormalizationEnabled({{label::kCpuNormalizationEnabled, "on"}}));
}

TEST(AmplificationRatios, TwoDecimalsSorted) {
  EXPECT_EQ(formatAmplificationRatios({{"memory", 3.5}, {"cpu", 1.2}}),
            R"({"cpu":1.20,"memory":3.50})");
  EXPECT_EQ(formatAmplificationRatios({}), "{}");
  EXPECT_EQ(formatAmplificationRatios({{"cpu", 3.1415926}}), R"({"cpu":3.14})");
  const auto parse = [](std::string_view value) {
    return parseAmplificationRatios(with(annotation::kResourceAmplificationRatio, value));
  };
  EXPECT_EQ(parse(R"({"cpu":1.5,"memory":2})").value(),
            (AmplificationRatios{{"cpu", 1.5}, {"memory", 2}}));
  for (const char* bad : {"", "x", R"({"cpu":"1.5"})", "[]", R"({"cpu":{}})"})
    EXPECT_FALSE(parse(bad)) << bad;
}

TEST(NodeAmounts, RoundTripInExactBytes) {
  const char* raw = R"({"cpu":"64","memory":"16265300Ki"})";
  EXPECT_EQ(annotationText(*parseRawAllocatable(with(annotation::kRawAllocatable, raw)).value()),
            raw);
  EXPECT_FALSE(parseRawAllocatable(with(annotation::kRawAllocatable, R"({"cpu":"x"})")));

  const char* origin =
      R"({"resources":{"kubernetes.io/batch-cpu":"50k","kubernetes.io/batch-memory":"120Gi"}})";
  const auto parsed =
      parseOriginExtendedAllocatable(with(annotation::kOriginExtendedAllocatable, origin));
  EXPECT_EQ(annotationText(*parsed.value()), origin);
  EXPECT_EQ(annotationText(OriginAllocatable{
                {{resource::kBatchCpu, "50000"}, {resource::kBatchMemory, "120Gi"}}}),
            origin);
}

TEST(ThirdPartyAllocations, SumByPriority) {
  const auto parsed = parseThirdPartyAllocations(with(annotation::kThirdPartyAllocations,
                                                      R"({"allocations":[
          {"name":"a","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"1000"}},
          {"name":"b","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"500"}},
          {"name":"c","priority":"koord-mid","resources":{"kubernetes.io/mid-cpu":"9"}},
          {"name":"d","priority":"koord-batch"}]})"));
  ASSERT_TRUE(parsed && *parsed);
  EXPECT_EQ((*parsed)->sumOf("koord-batch"), (ResourceList{{resource::kBatchCpu, "1500"}}));
  EXPECT_EQ((*parsed)->sumOf("koord-mid"), (ResourceList{{resource::kMidCpu, "9"}}));
  EXPECT_TRUE((*parsed)->sumOf("koord-prod").empty());
  EXPECT_FALSE(parseThirdPartyAllocations(with(annotation::kThirdPartyAllocations, "")));
}

TEST(RatioLabels, AtLeastZero) {
  const auto parse = [](std::string_view value) {
    return parseRatioLabel({{label::kCpuReclaimRatio, value}}, label::kCpuReclaimRatio);
  };
  EXPECT_EQ(parse("0.57").value(), 0.57);
  EXPECT_EQ(parse("0").value(), 0);
  EXPECT_EQ(parse("1.15").value(), 1.15);
  for (const char* bad : {"", "-0.1", "x", "NaN", "inf", "50%"}) EXPECT_FALSE(parse(bad)) << bad;
  EXPECT_EQ(parseRatioLabel({}, label::kCpuReclaimRatio).value(), std::nullopt);
  EXPECT_TRUE(hasNumaReservation({{label::kEnableNumaReservation, "true"}}));
  EXPECT_FALSE(hasNumaReservation({{label::kEnableNumaReservation, "True"}}));
}

TEST(CpuTopology, RoundTripInExactBytes) {
  const char* topology = R"({"detail":[{"id":0,"core":0,"socket":0,"node":0},)"
                         R"({"id":1,"core":0,"socket":0,"node":1}]})";
  EXPECT_EQ(annotationText(*parseCpuTopology(with(annotation::kCpuTopology, topology)).value()),
            topology);
  EXPECT_FALSE(parseCpuTopology(with(annotation::kCpuTopology, "[]")));

  const char* allocs =
      R"([{"namespace":"d","name":"p","uid":"u","cpuset":"0-1","managedByKubelet":true}])";
  EXPECT_EQ(annotationText(*parsePodCpuAllocs(with(annotation::kPodCpuAllocs, allocs)).value()),
            allocs);
  EXPECT_EQ(parsePodCpuAllocs(with(annotation::kPodCpuAllocs, "null")).value(), std::nullopt);

  const char* pools = R"([{"socket":0,"node":0,"cpuset":"0-7"},{"socket":1,"node":1}])";
  EXPECT_EQ(annotationText(*parseCpuSharedPools(with(annotation::kCpuSharedPools, pools)).value()),
            pools);
  EXPECT_EQ(
      annotationText(*parseBeCpuSharedPools(with(annotation::kBeCpuSharedPools, pools)).value()),
      pools);

  const char* info = R"({"cpuModel":"XXX","hyperThreadEnabled":true,"turboEnabled":true})";
  EXPECT_EQ(annotationText(*parseCpuBasicInfo(with(annotation::kCpuBasicInfo, info)).value()),
            info);
  EXPECT_EQ(annotationText(CpuBasicInfo{}), "{}");
}

TEST(NodeCpuBindPolicy, LabelOrKubelet) {
  const auto kubelet = [](std::string_view value) {
    return *parseCpuManagerPolicy(with(annotation::kKubeletCpuManagerPolicy, value)).value();
  };
  const auto full = kubelet(R"({"policy":"static","options":{"full-pcpus-only":"true"}})");
  const auto none = kubelet(R"({"policy":"none","options":{"full-pcpus-only":"true"}})");
  struct Row {
    const char* word;
    CpuManagerPolicy kubelet;
    NodeCpuBindPolicy expected;
  };
  for (const auto& [word, manager, expected] :
       {Row{"", none, NodeCpuBindPolicy::kNone},
        {"None", none, NodeCpuBindPolicy::kNone},
        {"FullPCPUsOnly", none, NodeCpuBindPolicy::kFullPcpusOnly},
        {"SpreadByPCPUs", none, NodeCpuBindPolicy::kSpreadByPcpus},
        {"SpreadByPCPUs", full, NodeCpuBindPolicy::kFullPcpusOnly},
        {"", full, NodeCpuBindPolicy::kFullPcpusOnly}})
    EXPECT_EQ(nodeCpuBindPolicyOf({{label::kCpuBindPolicy, word}}, manager), expected) << word;
}

TEST(NumaLabels, KnownWords) {
  EXPECT_EQ(numaAllocateStrategyOf({}), std::nullopt);
  EXPECT_EQ(numaAllocateStrategyOf({{label::kNumaAllocateStrategy, "MostAllocated"}}),
            NumaAllocateStrategy::kMostAllocated);
  EXPECT_EQ(numaAllocateStrategyOf({{label::kNumaAllocateStrategy, "LeastAllocated"}}),
            NumaAllocateStrategy::kLeastAllocated);
  EXPECT_EQ(numaAllocateStrategyOf({{label::kNumaAllocateStrategy, "DistributeEvenly"}}),
            NumaAllocateStrategy::kDistributeEvenly);
  EXPECT_EQ(numaTopologyPolicyOf(Labels{}), NumaTopologyPolicy::kNone);
  EXPECT_EQ(numaTopologyPolicyOf(Labels{{label::kNumaTopologyPolicy, "BestEffort"}}),
            NumaTopologyPolicy::kBestEffort);
  EXPECT_EQ(numaTopologyPolicyOf(Labels{{label::kNumaTopologyPolicy, "Restricted"}}),
            NumaTopologyPolicy::kRestricted);
  EXPECT_EQ(numaTopologyPolicyOf(Labels{{label::kNumaTopologyPolicy, "SingleNUMANode"}}),
            NumaTopologyPolicy::kSingleNumaNode);
}

TEST(ColocationStrategy, RoundTripsAndRefuses) {
  const char* text =
      R"({"enable":true,"metricAggregatePolicy":{"durations":["5m0s","30m0s"]},)"
      R"("cpuReclaimThresholdPercent":70,"resourceDiffThreshold":0.1,"midReclaimMode":"static",)"
      R"("midCPUThresholdPercent":45,"batchMemoryThresholdPercent":110,"extensions":{"a":{"b":1}}})";
  const auto strategy = parseColocationStrategy(with(annotation::kColocationStrategy, text));
  ASSERT_TRUE(strategy && *strategy);
  EXPECT_EQ(annotationText(**strategy), text);
  EXPECT_EQ(parseColocationStrategy({}).value(), std::nullopt);
  EXPECT_FALSE(parseColocationStrategy(with(annotation::kColocationStrategy, R"({"enable":1})")));
  EXPECT_FALSE(parseColocationStrategy(
      with(annotation::kColocationStrategy, R"({"degradeTimeMinutes":1.5})")));
}

}  // namespace
}  // namespace mangrove::api
