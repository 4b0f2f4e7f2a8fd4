#include "placement/config/config.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/os/log.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

std::string names(const std::vector<ProfileConfig::Enabled>& list) {
  std::string out;
  for (const auto& plugin : list) out += (out.empty() ? "" : " ") + plugin.name;
  return out;
}

// As Koordinator's chart installs it.
constexpr std::string_view kShipped = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  resourceLock: leases
  resourceName: koord-scheduler
  resourceNamespace: koordinator-system
profiles:
- schedulerName: koord-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      scoringStrategy:
        type: LeastAllocated
        resources:
        - {name: cpu, weight: 1}
        - {name: memory, weight: 1}
        - {name: "kubernetes.io/batch-cpu", weight: 1}
        - {name: "kubernetes.io/batch-memory", weight: 1}
  - name: LoadAwareScheduling
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: LoadAwareSchedulingArgs
      filterExpiredNodeMetrics: false
      nodeMetricExpirationSeconds: 300
      resourceWeights: {cpu: 1, memory: 1}
      usageThresholds: {cpu: 65, memory: 95}
      estimatedScalingFactors: {cpu: 85, memory: 70}
  - name: ElasticQuota
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: ElasticQuotaArgs
      quotaGroupNamespace: koordinator-system
  - name: Coscheduling
    args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: CoschedulingArgs, awareNetworkTopology: true}
  plugins:
    preEnqueue: {enabled: [{name: Coscheduling}]}
    queueSort: {disabled: [{name: "*"}], enabled: [{name: PrioritySort}]}
    preFilter:
      enabled: [{name: SchedulingHint}, {name: Coscheduling}, {name: Reservation}, {name: NodeNUMAResource}, {name: DeviceShare}, {name: ElasticQuota}]
    filter: {enabled: [{name: Reservation}, {name: LoadAwareScheduling}, {name: NodeNUMAResource}, {name: DeviceShare}]}
    postFilter:
      disabled: [{name: "*"}]
      enabled: [{name: Reservation}, {name: Coscheduling}, {name: ElasticQuota}, {name: DefaultPreemption}]
    preScore: {enabled: [{name: Reservation}, {name: Coscheduling}]}
    score:
      enabled:
      - {name: LoadAwareScheduling, weight: 1}
      - {name: NodeNUMAResource, weight: 1}
      - {name: DeviceShare, weight: 1}
      - {name: Reservation, weight: 5000}
      - {name: Coscheduling, weight: 1}
    reserve: {enabled: [{name: Reservation}, {name: LoadAwareScheduling}, {name: NodeNUMAResource}, {name: DeviceShare}, {name: Coscheduling}, {name: ElasticQuota}]}
    permit: {enabled: [{name: Coscheduling}]}
    preBind: {enabled: [{name: NodeNUMAResource}, {name: DeviceShare}, {name: Reservation}, {name: Coscheduling}, {name: DefaultPreBind}]}
    bind: {disabled: [{name: "*"}], enabled: [{name: Reservation}, {name: DefaultBinder}]}
    postBind: {enabled: [{name: Coscheduling}]}
)";

TEST(Config, loads_what_the_reference_ships) {
  auto config = readConfig(kShipped, "koord-scheduler.yaml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->leaderElection.resourceNamespace, "koordinator-system");
  LogCapture quiet;
  Lab lab(*config);
  lab.node(R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"8","memory":"8Gi"}}})");
  lab.pod(
      R"({"metadata":{"name":"plain"},"spec":{"schedulerName":"koord-scheduler","containers":[{"name":"c"}]}})");
  lab.run();
  EXPECT_EQ(lab.nodeOf("plain"), "n1");
}

TEST(Config, arguments_of_plugins_that_are_not_there_are_said) {
  constexpr auto kText =
      "profiles: [{pluginConfig: [{name: ElasticQuota, args: {reclaim: true}}]}]";
  const auto stock = readConfig(kText, "x");
  ASSERT_TRUE(stock) << stock.error().text();
  ASSERT_EQ(stock->warnings.size(), 1u);
  EXPECT_EQ(stock->warnings[0],
            "profile default-scheduler: pluginConfig of ElasticQuota has no effect: the profile "
            "does not enable the plugin at any extension point");
  const auto ours = readConfig(kText, "x", colocationProfile);
  ASSERT_TRUE(ours) << ours.error().text();
  EXPECT_TRUE(ours->warnings.empty());
  EXPECT_NE(names(ours->profiles[0].at("postFilter")).find("ElasticQuota"), std::string::npos);
  EXPECT_TRUE(ours->profiles[0].args.contains("NodeResourcesFit"));
  EXPECT_EQ(ours->profiles[0].args.at("ElasticQuota").at("reclaim"), true);
}

TEST(Config, merges_as_kubernetes_does) {
  auto config = readConfig(R"(
profiles:
- plugins:
    multiPoint: {disabled: [{name: ImageLocality}]}
    filter: {disabled: [{name: NodePorts}], enabled: [{name: TaintToleration}]}
    score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit, weight: 5}]}
)",
                           "x");
  ASSERT_TRUE(config) << config.error().text();
  const ProfileConfig& profile = config->profiles[0];
  EXPECT_EQ(names(profile.at("filter")).substr(0, 42),
            "TaintToleration NodeUnschedulable NodeName");
  EXPECT_EQ(names(profile.at("filter")).find("NodePorts"), std::string::npos);
  ASSERT_EQ(profile.at("score").size(), 1u);
  EXPECT_EQ(profile.at("score")[0].weight, 5);
  EXPECT_EQ(names(profile.at("preBind")), "VolumeBinding DynamicResources DefaultPreBind");
  const auto plain = readConfig("{}", "x");
  ASSERT_TRUE(plain);
  EXPECT_EQ(names(plain->profiles[0].at("score")),
            "TaintToleration NodeAffinity NodeResourcesFit PodTopologySpread InterPodAffinity "
            "NodeResourcesBalancedAllocation ImageLocality");
}

TEST(Config, fields_without_effect_are_said_and_a_rate_counts_only_where_it_is_set) {
  const auto config = readConfig(R"(
parallelism: 16
enableProfiling: true
enableContentionProfiling: true
delayCacheUntilActive: true
healthzBindAddress: ""
metricsBindAddress: ""
clientConnection: {kubeconfig: /etc/k, qps: 20, burst: 40, contentType: a, acceptContentTypes: b}
leaderElection: {leaseDuration: 30s, resourceName: mine}
)",
                                 "x");
  ASSERT_TRUE(config) << config.error().text();
  for (auto field :
       {"parallelism", "enableProfiling", "enableContentionProfiling", "delayCacheUntilActive",
        "healthzBindAddress", "metricsBindAddress", "contentType", "acceptContentTypes"})
    EXPECT_EQ(std::count_if(config->warnings.begin(), config->warnings.end(),
                            [&](const std::string& said) {
                              return said.starts_with(std::string(field) + " has no effect: ");
                            }),
              1)
        << field;
  EXPECT_EQ(config->qps, 20);
  EXPECT_EQ(config->burst, 40);
  EXPECT_EQ(config->kubeconfig, "/etc/k");
  EXPECT_EQ(config->leaderElection.leaseDuration, std::chrono::seconds(30));
  EXPECT_EQ(config->leaderElection.resourceName, "mine");
  const auto plain = readConfig("{}", "x");
  EXPECT_EQ(plain->qps, std::nullopt);
  EXPECT_TRUE(plain->warnings.empty());
}

TEST(Config, mistakes_name_the_field_and_what_is_near) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"profile: []", "unknown field 'profile', did you mean 'profiles'?"},
      {"profiles: [{schedulerNam: x}]",
       "unknown field 'schedulerNam', did you mean 'schedulerName'?"},
      {"profiles: [{plugins: {score: {enabled: [{name: NodeResourceFit}]}}}]",
       "unknown plugin 'NodeResourceFit', did you mean 'NodeResourcesFit'?"},
      {"profiles: [{plugins: {score: {enabled: [{name: ImageLocality, weight: 2000000}]}}}]",
       "weight 2000000 of plugin ImageLocality: want 0..1000000"},
      {"extenders: [{urlPrefix: x}]", "HTTP extenders are not supported"},
      {"percentageOfNodesToScore: 101", "101 is not in 0..100"},
      {"profiles: [{schedulerName: a}, {schedulerName: a}]", "schedulerName 'a' is there twice"},
      {"podInitialBackoffSeconds: x", "want an integer"},
      {"apiVersion: kubescheduler.config.k8s.io/v1beta3", "want kubescheduler.config.k8s.io/v1"},
  };
  for (const auto& [text, says] : cases) {
    const auto config = readConfig(text, "scheduler.yaml");
    ASSERT_FALSE(config) << text;
    EXPECT_NE(config.error().text().find(says), std::string::npos) << config.error().text();
  }
  auto bad = defaultConfig({"a"});
  bad.profiles[0].args["LoadAwareScheduling"] = *json::parse(R"({"usageThreshold":{"cpu":1}})");
  Registry registry;
  Lab lab;
  VirtualClock clock;
  Engine engine(clock, lab, registry);
  const auto refused = engine.configure(bad);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("did you mean 'usageThresholds'?"), std::string::npos)
      << refused.error().text();
}

}  // namespace
}  // namespace mangrove::placement
