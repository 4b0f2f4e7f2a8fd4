// Annotations and labels of pods: placement, devices, quality of service, eviction.
#include <gtest/gtest.h>

#include "api/annotations/cpu.h"
#include "api/annotations/device.h"
#include "api/annotations/eviction.h"
#include "api/annotations/extended_resource.h"
#include "api/annotations/qos.h"
#include "api/annotations/scheduling.h"

namespace mangrove::api {
namespace {

Annotations with(std::string_view key, std::string_view value) {
  return Annotations{{key, value}};
}

// Reads and writes back; "absent", or the error's text.
template <class T>
std::string echo(Result<std::optional<T>> (*parse)(const Annotations&), std::string_view key,
                 std::string_view value) {
  auto parsed = parse(with(key, value));
  if (!parsed) return "error: " + parsed.error().text();
  return *parsed ? annotationText(**parsed) : "absent";
}
#define EXPECT_ECHO(parse, key, value) EXPECT_EQ(echo(parse, key, value), value)
#define EXPECT_REFUSED(parse, key, value) \
  EXPECT_TRUE(echo(parse, key, value).starts_with("error: annotation ")) << value

TEST(PodCpu, SpecsRoundTrip) {
  EXPECT_ECHO(parseResourceSpec, annotation::kResourceSpec,
              R"({"requiredCPUBindPolicy":"FullPCPUs","preferredCPUBindPolicy":"Default",)"
              R"("preferredCPUExclusivePolicy":"PCPULevel"})");
  EXPECT_ECHO(parseResourceSpec, annotation::kResourceSpec, R"({"requiredCPUBindPolicy":"New"})");
  EXPECT_REFUSED(parseResourceSpec, annotation::kResourceSpec, R"({"preferredCPUBindPolicy":1})");
  EXPECT_REFUSED(parseResourceSpec, annotation::kResourceSpec, "");
  EXPECT_ECHO(parseNumaTopologySpec, annotation::kNumaTopologySpec,
              R"({"numaTopologyPolicy":"Restricted","singleNUMANodeExclusive":"Required"})");
  EXPECT_REFUSED(parseNumaTopologySpec, annotation::kNumaTopologySpec, "");
  EXPECT_ECHO(parseResourceStatus, annotation::kResourceStatus,
              R"({"cpuset":"0-3","numaNodeResources":[{"node":0,"resources":{"cpu":"4"}}]})");
  EXPECT_EQ(parseResourceStatus({}).value(), std::nullopt);
}

TEST(PodDevices, RoundTrip) {
  EXPECT_ECHO(
      parseDeviceAllocations, annotation::kDeviceAllocated,
      R"({"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"100"}}],)"
      R"("rdma":[{"minor":1,"resources":{"koordinator.sh/rdma":"100"},"id":"0000:09:00.0",)"
      R"("extension":{"vfs":[{"minor":2,"busID":"b"}],"gpuSharedResourceTemplate":"t"}}]})");
  EXPECT_REFUSED(parseDeviceAllocations, annotation::kDeviceAllocated, R"({"gpu":{}})");
  EXPECT_REFUSED(parseDeviceAllocations, annotation::kDeviceAllocated,
                 R"({"gpu":[{"minor":"0"}]})");
  EXPECT_ECHO(
      parseDeviceHints, annotation::kDeviceAllocateHint,
      R"({"gpu":{"selector":{"matchLabels":{"type":"A100"}}},)"
      R"("rdma":{"vfSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]},)"
      R"("allocateStrategy":"ApplyForAll","requiredTopologyScope":"PCIe",)"
      R"("exclusivePolicy":"DeviceLevel"}})");
  EXPECT_ECHO(parseDeviceJointAllocate, annotation::kDeviceJointAllocate,
              R"({"deviceTypes":["gpu","rdma"],"requiredScope":"SamePCIe"})");
}

TEST(PodDevices, PartitionSpecDefaultsToBestEffort) {
  const auto key = annotation::kGpuPartitionSpec;
  EXPECT_EQ(echo(parseGpuPartitionSpec, key, "{}"), R"({"allocatePolicy":"BestEffort"})");
  EXPECT_EQ(echo(parseGpuPartitionSpec, key, "null"), R"({"allocatePolicy":"BestEffort"})");
  EXPECT_ECHO(parseGpuPartitionSpec, key,
              R"({"allocatePolicy":"Restricted","ringBusBandwidth":"100Gi"})");
  EXPECT_REFUSED(parseGpuPartitionSpec, key, R"({"ringBusBandwidth":"x"})");
}

TEST(DeviceObject, PartitionTable) {
  const auto key = annotation::kGpuPartitions;
  EXPECT_ECHO(parseGpuPartitions, key,
              R"({"1":[{"minors":[0]}],"2":[{"minors":[0,1],"gpuLinkType":"NVLink",)"
              R"("ringBusBandwidth":"400Gi","allocationScore":3}]})");
  EXPECT_EQ(echo(parseGpuPartitions, key, ""), "absent");
  EXPECT_REFUSED(parseGpuPartitions, key, "null");
  EXPECT_REFUSED(parseGpuPartitions, key, R"({"two":[]})");
  EXPECT_TRUE(honorsGpuPartitions({{label::kGpuPartitionPolicy, "Honor"}}));
  EXPECT_FALSE(honorsGpuPartitions({{label::kGpuPartitionPolicy, "Prefer"}}));
  EXPECT_EQ(secondaryDeviceWellPlanned({}), std::nullopt);
  EXPECT_EQ(secondaryDeviceWellPlanned({{label::kSecondaryDeviceWellPlanned, "false"}}), false);
  EXPECT_EQ(secondaryDeviceWellPlanned({{label::kSecondaryDeviceWellPlanned, "true"}}), true);
  EXPECT_TRUE(isolatesGpuByHami({{label::kGpuIsolationProvider, "HAMi-core"}}));
  for (auto [scope, level] :
       {std::pair("Device", 4), {"PCIe", 3}, {"NUMANode", 2}, {"Node", 1}, {"", 0}})
    EXPECT_EQ(topologyScopeLevel(scope), level) << scope;
}

TEST(PodQos, RoundTrip) {
  EXPECT_ECHO(parseCpuBurst, annotation::kCpuBurst,
              R"({"policy":"auto","cpuBurstPercent":1000,"cfsQuotaBurstPercent":300,)"
              R"("cfsQuotaBurstPeriodSeconds":-1})");
  EXPECT_REFUSED(parseCpuBurst, annotation::kCpuBurst, R"({"cpuBurstPercent":"1"})");
  EXPECT_ECHO(
      parseMemoryQos, annotation::kMemoryQos,
      R"({"policy":"auto","minLimitPercent":100,"wmarkMinAdj":-25,"pageCacheEnable":true})");
  // `enable` belongs to the node's setting; here it is an unknown member, whatever its type.
  EXPECT_EQ(echo(parseMemoryQos, annotation::kMemoryQos, R"({"enable":"x"})"), "{}");
  EXPECT_ECHO(parseBlkioQos, annotation::kBlkioQos,
              R"({"blocks":[{"name":"/dev/vda","type":"device","ioCfg":{"readIOPS":100}}]})");
  EXPECT_ECHO(parseNetworkQos, annotation::kNetworkQos,
              R"({"ingressLimit":"10M","egressLimit":"20M"})");
  EXPECT_EQ(
      echo(parseNetworkQos, annotation::kNetworkQos, R"({"IngressLimit":"10M","EgressLimit":""})"),
      R"({"ingressLimit":"10M"})");
  EXPECT_REFUSED(parseNetworkQos, annotation::kNetworkQos, R"({"ingressLimit":"fast"})");
}

TEST(PodQos, GroupIdentityHasARange) {
  for (int good : {-1, 0, 1, 2})
    EXPECT_ECHO(parseCpuQos, annotation::kCpuQos, fmt::format(R"({{"groupIdentity":{}}})", good));
  for (int bad : {-2, 3, 100})
    EXPECT_REFUSED(parseCpuQos, annotation::kCpuQos, fmt::format(R"({{"groupIdentity":{}}})", bad));
  EXPECT_ECHO(parseCpuQos, annotation::kCpuQos,
              R"({"enable":true,"groupIdentity":-1,"schedIdle":1,"coreExpeller":true})");
}

TEST(PodQos, Resctrl) {
  const auto key = annotation::kResctrl;
  EXPECT_EQ(echo(parseResctrl, key, "{}"), R"({"llc":{"schemata":{}},"mb":{"schemata":{}}})");
  EXPECT_EQ(echo(parseResctrl, key, "null"), "absent");
  EXPECT_ECHO(parseResctrl, key,
              R"({"llc":{"schemata":{"range":[20,80]},"schemataPerCache":[{"cacheID":1,)"
              R"("percent":10,"range":[0,5]}]},"mb":{"schemata":{"percent":20}}})");
  EXPECT_REFUSED(parseResctrl, key, R"({"llc":{"schemata":{"range":"0-5"}}})");
}

TEST(PodQos, OomScoreAdj) {
  const Annotations pod{{annotation::kOomScoreAdj, "-500"},
                        {annotation::kOomScoreAdjSpec, R"({"a":1000,"b":0})"}};
  const auto scores = parseOomScoreAdj(pod).value();
  EXPECT_EQ(scores.of("a"), 1000);
  EXPECT_EQ(scores.of("b"), 0);
  EXPECT_EQ(scores.of("c"), -500);
  EXPECT_EQ(parseOomScoreAdj({}).value().of("a"), std::nullopt);
  for (const char* bad : {"", "x", "1001", "-1001", "1.5"})
    EXPECT_FALSE(parseOomScoreAdj(with(annotation::kOomScoreAdj, bad))) << bad;
  for (const char* bad : {"", "[]", R"({"a":1001})", R"({"a":"1"})", R"({"a":1.5})"})
    EXPECT_FALSE(parseOomScoreAdj(with(annotation::kOomScoreAdjSpec, bad))) << bad;
  EXPECT_EQ(
      parseOomScoreAdj(with(annotation::kOomScoreAdjSpec, R"({"a":1001})")).error().text(),
      "annotation koordinator.sh/oom-score-adj-spec: a: 1001, want an integer from -1000 to 1000");
}

TEST(PodQos, CoreSched) {
  EXPECT_EQ(coreSchedOf({}), CoreSched{});
  EXPECT_EQ(coreSchedOf({{label::kCoreSchedGroupId, "g"}, {label::kCoreSchedPolicy, "exclusive"}}),
            (CoreSched{"g", CoreSched::Policy::kExclusive}));
  EXPECT_EQ(coreSchedOf({{label::kCoreSchedPolicy, "none"}}).policy, CoreSched::Policy::kNone);
  EXPECT_EQ(coreSchedOf({{label::kCoreSchedPolicy, "odd"}}).policy, CoreSched::Policy::kDefault);
}

TEST(Eviction, EnabledOnlyByTheExactWord) {
  EXPECT_TRUE(isEvictionEnabled({{label::kEvictionEnabled, "true"}}));
  for (const char* word : {"", "True", "1", "false"})
    EXPECT_FALSE(isEvictionEnabled({{label::kEvictionEnabled, word}})) << word;
  EXPECT_FALSE(isEvictionEnabled({}));
}

TEST(Eviction, PolicyListRestricts) {
  const auto allowed = [](std::string_view value) {
    return isEvictableBy(with(annotation::kEvictionPolicy, value), "memory");
  };
  EXPECT_TRUE(isEvictableBy({}, "memory"));
  EXPECT_TRUE(allowed(R"(["cpu","memory"])"));
  for (const char* value : {R"(["cpu"])", "[]", "null", "", "memory", R"({"memory":true})"})
    EXPECT_FALSE(allowed(value)) << value;
}

TEST(Eviction, CostAndPriority) {
  struct Row {
    const char* value;
    std::optional<int32_t> cost;
    std::optional<int32_t> priority;
  };
  for (auto [value, cost, priority] : {Row{"0", 0, 0},
                                       {"10", 10, 10},
                                       {"-10", -10, -10},
                                       {"-0", 0, 0},
                                       {"-007", -7, -7},
                                       {"+5", std::nullopt, 5},
                                       {"007", std::nullopt, 7},
                                       {"00", std::nullopt, 0},
                                       {"2147483647", kNeverEvictCost, 2147483647},
                                       {"2147483648", std::nullopt, std::nullopt},
                                       {"", std::nullopt, std::nullopt},
                                       {"x", std::nullopt, std::nullopt},
                                       {"1.5", std::nullopt, std::nullopt},
                                       {" 1", std::nullopt, std::nullopt}}) {
    const auto gotCost = parseEvictionCost(with(annotation::kEvictionCost, value));
    EXPECT_EQ(gotCost ? std::optional(*gotCost) : std::nullopt, cost) << value;
    const auto gotPriority = parseEvictionPriority(with(annotation::kEvictionPriority, value));
    EXPECT_EQ(gotPriority ? std::optional(*gotPriority) : std::nullopt, priority) << value;
  }
  EXPECT_EQ(parseEvictionCost({}).value(), 0);
  EXPECT_EQ(parseEvictionPriority({}).value(), 0);
}

TEST(Eviction, SoftEviction) {
  EXPECT_ECHO(parseSoftEviction, annotation::kSoftEviction,
              R"({"timestamp":"2026-03-01T12:00:00Z","deleteOptions":{"gracePeriodSeconds":5},)"
              R"("initiator":"koord-descheduler","reason":"hot"})");
  EXPECT_REFUSED(parseSoftEviction, annotation::kSoftEviction, R"({"timestamp":"noon"})");
  EXPECT_REFUSED(parseSoftEviction, annotation::kSoftEviction, "true");
}

TEST(ExtendedResources, ExactBytes) {
  const std::string text =
      R"({"containers":{"c1":{"limits":{"kubernetes.io/batch-cpu":"1k",)"
      R"("kubernetes.io/batch-memory":"4Gi"},"requests":{"kubernetes.io/batch-cpu":"1k",)"
      R"("kubernetes.io/batch-memory":"4Gi"}}}})";
  const ResourceList four{{resource::kBatchMemory, "4Gi"}, {resource::kBatchCpu, "1000"}};
  EXPECT_EQ(annotationText(ExtendedResourceSpec{{{"c1", {four, four}}}}), text);
  EXPECT_ECHO(parseExtendedResourceSpec, annotation::kExtendedResourceSpec, text);
  EXPECT_REFUSED(parseExtendedResourceSpec, annotation::kExtendedResourceSpec,
                 R"({"containers":[]})");
}

TEST(ReplacedResources, SkipsWhatIsNoPair) {
  struct Row {
    const char* value;
    std::map<std::string, std::string> replace;
    std::vector<std::string> erase;
  };
  for (const auto& [value, replace, erase] : {Row{"a:b,c:d,e:", {{"a", "b"}, {"c", "d"}}, {"e"}},
                                              {"a:b:c,x:y", {{"x", "y"}}, {}},
                                              {"a", {}, {}},
                                              {" a : b , c:\t", {{"a", "b"}}, {"c"}},
                                              {",,", {}, {}},
                                              {"a:b,a:c", {{"a", "c"}}, {}}}) {
    const auto got = replacedResourcesOf(with(annotation::kReplaceResources, value));
    EXPECT_EQ(got, (ReplacedResources{replace, erase})) << value;
  }
  EXPECT_EQ(replacedResourcesOf({}), std::nullopt);
  EXPECT_EQ(replacedResourcesOf(with(annotation::kReplaceResources, "")), std::nullopt);
  EXPECT_EQ(formatReplacedResources({{{"a", "b"}, {"c", "d"}}, {"e"}}), "a:b,c:d,e:");
}

TEST(LoadAware, Thresholds) {
  EXPECT_ECHO(parseUsageThresholds, annotation::kUsageThresholds,
              R"({"usageThresholds":{"cpu":65,"memory":95},"prodUsageThresholds":{"cpu":55},)"
              R"("aggregatedUsage":{"usageThresholds":{"cpu":80},"usageAggregationType":"p95",)"
              R"("usageAggregatedDuration":"5m0s"}})");
  EXPECT_REFUSED(parseUsageThresholds, annotation::kUsageThresholds,
                 R"({"usageThresholds":{"cpu":65.5}})");
  EXPECT_REFUSED(parseUsageThresholds, annotation::kUsageThresholds, "");
}

TEST(LoadAware, EstimatesThatCannotBeReadAreAbsent) {
  const auto factors = [](std::string_view value) {
    return loadEstimatedScalingFactorsOf(with(annotation::kLoadEstimatedScalingFactors, value));
  };
  EXPECT_EQ(factors(R"({"cpu":80,"memory":70})"), (ScalingFactors{{"cpu", 80}, {"memory", 70}}));
  for (const char* bad : {"", "x", "null", "[]", R"({"cpu":"80"})", R"({"cpu":0.8})"})
    EXPECT_EQ(factors(bad), std::nullopt) << bad;
  EXPECT_EQ(loadEstimatedSecondsAfterScheduledOf(
                with(annotation::kLoadEstimatedSecondsAfterScheduled, "30")),
            30);
  EXPECT_EQ(loadEstimatedSecondsAfterScheduledOf({}), std::nullopt);
  EXPECT_EQ(loadEstimatedSecondsAfterInitializedOf(
                with(annotation::kLoadEstimatedSecondsAfterInitialized, "soon")),
            std::nullopt);
}

TEST(Scheduling, HintsPreferTheInternalKey) {
  const char* one = R"({"nodeNames":["n1"],"preferredNodeNames":["n2"],"extensions":{"a":[1]}})";
  const char* two = R"({"nodeNames":["old"]})";
  EXPECT_ECHO(parseSchedulingHint, annotation::kSchedulingHint, one);
  EXPECT_ECHO(parseSchedulingHint, annotation::kOldSchedulingHint, two);
  const Annotations both{{annotation::kSchedulingHint, one}, {annotation::kOldSchedulingHint, two}};
  EXPECT_EQ((*parseSchedulingHint(both))->nodeNames, std::vector<std::string>{"n1"});
  const Annotations blank{{annotation::kSchedulingHint, ""}, {annotation::kOldSchedulingHint, two}};
  EXPECT_EQ((*parseSchedulingHint(blank))->nodeNames, std::vector<std::string>{"old"});
  EXPECT_EQ(parseSchedulingHint({}).value(), std::nullopt);
}

TEST(Scheduling, Labels) {
  EXPECT_EQ(schedulerNameOf({}, "default-scheduler"), "default-scheduler");
  EXPECT_EQ(schedulerNameOf({{label::kSchedulerName, "mine"}}, "default-scheduler"), "mine");
  EXPECT_EQ(preemptionPolicyOf({{label::kPreemptionPolicy, "Never"}}), LabelledPreemption::kNever);
  EXPECT_EQ(preemptionPolicyOf({{label::kPreemptionPolicy, "PreemptLowerPriority"}}),
            LabelledPreemption::kPreemptLowerPriority);
  EXPECT_EQ(preemptionPolicyOf({{label::kPreemptionPolicy, "never"}}), std::nullopt);
  EXPECT_TRUE(isPreemptible({}));
  EXPECT_FALSE(isPreemptible({{label::kDisablePreemptible, "true"}}));
}

}  // namespace
}  // namespace mangrove::api
