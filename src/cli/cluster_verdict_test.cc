// What `mangrove check cluster` says of made-up clusters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/advice.h"
#include "cli/cluster_facts.h"
#include "cli/config_reference.h"
#include "cli/explain_controls.h"

namespace mangrove::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr WallTime kNow{std::chrono::hours(500000)};

template <class T>
T decoded(std::string_view text) {
  auto out = api::decodeText<T>(text);
  EXPECT_TRUE(out) << (out ? "" : out.error().text());
  return std::move(*out);
}

ClusterFacts healthy() {
  ClusterFacts facts;
  facts.now = kNow;
  facts.server = "10.0.0.1:6443";
  facts.version = "v1.35.0";
  facts.configName = "koordinator-system/slo-controller-config";
  facts.nodes.push_back(decoded<api::Node>(
      R"({"metadata":{"name":"n1"},"status":{"conditions":[{"type":"Ready","status":"True"}],
          "allocatable":{"cpu":"4","kubernetes.io/batch-cpu":"1000"}}})"));
  facts.slos = {"n1"};
  api::NodeMetric metric;
  metric.status.updateTime = kNow - std::chrono::seconds(30);
  facts.metrics.emplace("n1", metric);
  facts.config = decoded<api::ConfigMap>(
      R"({"metadata":{"name":"slo-controller-config","namespace":"koordinator-system"},
          "data":{"colocation-config":"{\"enable\":true}"}})");
  return facts;
}

TEST(CheckCluster, SaysThatAHealthyOneWorks) {
  const Told told = judgeCluster(healthy());
  EXPECT_TRUE(told.good);
  EXPECT_EQ(told.answer, "colocation works: 0 errors, 0 warnings");
  EXPECT_THAT(told.todo, IsEmpty());
  EXPECT_THAT(told.terms, HasSubstr("1 node: ready, measured and for sale"));
}

struct Case {
  const char* name;
  void (*harm)(ClusterFacts&);
  bool good;  // still without errors
  const char* says;
  const char* advises;
};

class CheckClusterHarm : public ::testing::TestWithParam<Case> {};

TEST_P(CheckClusterHarm, IsNamedWithWhatToDo) {
  ClusterFacts facts = healthy();
  GetParam().harm(facts);
  const Told told = judgeCluster(facts);
  EXPECT_EQ(told.good, GetParam().good) << told.terms;
  EXPECT_THAT(told.terms, HasSubstr(GetParam().says));
  EXPECT_THAT(toldText(told, false), HasSubstr(GetParam().advises));
}

const Case kHarms[] = {
    {"crd", [](ClusterFacts& f) { f.missingCrds = {"nodeslos.slo.koordinator.sh"}; }, false,
     "not served: nodeslos.slo.koordinator.sh", "kubectl apply -k config/crd"},
    {"priorities", [](ClusterFacts& f) { f.missingPriorities = {"koord-mid"}; }, true,
     "missing: koord-mid", "docs/concepts.md"},
    {"noConfig", [](ClusterFacts& f) { f.config.reset(); }, true,
     "there is no ConfigMap koordinator-system/slo-controller-config", "create it"},
    {"off", [](ClusterFacts& f) { f.config->data["colocation-config"] = R"({"enable":false})"; },
     true, "1 node with colocation off: n1", "\"enable\": true"},
    {"wrongConfig",
     [](ClusterFacts& f) {
       f.config->data["colocation-config"] = R"({"enable":true,"degradeTimeMinutes":0})";
     },
     false, "degradeTimeMinutes", "kubectl edit configmap"},
    {"unmeasured", [](ClusterFacts& f) { f.metrics.clear(); }, false, "1 node never measured: n1",
     "is an agent running there?"},
    {"stale",
     [](ClusterFacts& f) {
       f.metrics.begin()->second.status.updateTime = kNow - std::chrono::hours(2);
     },
     false, "with an old measurement: n1 (2h0m0s old)", "look at the agent"},
    {"unsold", [](ClusterFacts& f) { f.nodes[0].status.allocatable = {}; }, false,
     "measured, but with nothing for sale", "does it lead?"},
    {"noNodes", [](ClusterFacts& f) { f.nodes.clear(); }, false, "there is none", "mangrove up"},
    {"noSlo", [](ClusterFacts& f) { f.slos.clear(); }, true, "without NodeSLO: n1",
     "is the manager running?"},
    {"silentLeader",
     [](ClusterFacts& f) {
       api::Lease lease;
       lease.holderIdentity = "a";
       lease.renewTime = kNow - std::chrono::minutes(5);
       f.leases.push_back(lease);
     },
     false, "a was last heard of 5m0s ago", "start the role again"},
    {"webhook",
     [](ClusterFacts& f) {
       f.webhooks.push_back(
           {.name = "koord", .service = "a/b", .hasBundle = true, .endpoints = 0, .refuses = true});
     },
     false, "koord: nobody answers behind a/b", "pods are refused"},
    {"rights",
     [](ClusterFacts& f) {
       f.rights.push_back({"koordlet", "patch", "nodemetrics/status", false});
     },
     false, "koordlet may not patch nodemetrics/status", "config/rbac"},
};
INSTANTIATE_TEST_SUITE_P(All, CheckClusterHarm, ::testing::ValuesIn(kHarms),
                         [](const auto& one) { return one.param.name; });

TEST(CheckCluster, NamesPodsNobodyLookedAt) {
  ClusterFacts facts = healthy();
  auto pod = decoded<api::Pod>(
      R"({"metadata":{"name":"p","namespace":"d"},"spec":{"containers":[]},"status":{"phase":"Pending"}})");
  pod.meta.creationTimestamp = kNow - std::chrono::minutes(3);
  facts.pods.push_back(pod);
  EXPECT_THAT(judgeCluster(facts).terms, HasSubstr("nobody looked at d/p"));
  facts.pods[0].meta.creationTimestamp = kNow - std::chrono::seconds(3);
  EXPECT_TRUE(judgeCluster(facts).good);
}

TEST(PodVerdict, SaysWhereAndWhyNot) {
  scheduler::Explanation e;
  e.pod = "d/p";
  e.nodes = 2;
  e.message = "0/2 nodes are available: 2 Insufficient kubernetes.io/batch-cpu.";
  placement::Diagnosis::Group group;
  group.reason = "Insufficient kubernetes.io/batch-cpu";
  e.refusals.push_back(group);
  const Told waits = podVerdict(e, false);
  EXPECT_THAT(waits.answer, HasSubstr("d/p waits: 0/2 nodes"));
  ASSERT_EQ(waits.todo.size(), 1u);
  EXPECT_THAT(waits.todo[0], HasSubstr("mangrove explain node"));
  e.assignedTo = "n1";
  EXPECT_EQ(podVerdict(e, false).answer, "d/p has its place on n1");
}

TEST(NodeVerdict, NamesWhatTakesMost) {
  manager::Explanation e{"n1",
                         {},
                         {{"batch = capacity − …",
                           {{"− margin", "0.600", "1", ""},
                            {"− kept", "1.900", "1", ""},
                            {"− services", "0.100", "1", ""},
                            {"= for sale", "0.000", "14.60", ""}}}}};
  const Told told = nodeVerdict(e);
  EXPECT_THAT(told.answer, HasSubstr("sells 0.000 batch cores and 14.60 GiB"));
  EXPECT_THAT(told.answer, HasSubstr("what is no pod (or is reserved) takes 1.900 cores"));
  ASSERT_EQ(told.todo.size(), 1u);
  EXPECT_THAT(told.todo[0], HasSubstr("mangrove top"));
}

TEST(PodControls, SayThatNothingLimits) {
  const auto told = json::parse(
      R"({"enforcement":"on","files":[{"cgroup":"kubepods/besteffort","file":"cpu.cfs_quota_us",
          "now":"-1","wanted":"-1","before":"-1","owner":"pressure","since":"x",
          "why":"services do not wait"}],"deeds":[],"strategies":[]})");
  ASSERT_TRUE(told);
  const auto be = decoded<api::Pod>(
      R"({"metadata":{"name":"p","uid":"u","labels":{"koordinator.sh/qosClass":"BE"}},"spec":{"containers":[]}})");
  EXPECT_EQ(podControls(*told, be).limit,
            "pressure leaves best-effort pods all the time nobody else needs, cpu.cfs_quota_us = "
            "-1: services do not wait");
}

TEST(PodControls, ShowTheLimitOfTheWholeClass) {
  const auto told = json::parse(
      R"({"enforcement":"on","files":[{"cgroup":"kubepods/besteffort","file":"cpu.cfs_quota_us",
          "now":"2000","wanted":"2000","before":"-1","owner":"cpu-suppress","since":"x",
          "why":"80 % of 2000m"}],"deeds":[],"strategies":[]})");
  ASSERT_TRUE(told);
  const auto be = decoded<api::Pod>(
      R"({"metadata":{"name":"p","uid":"u","labels":{"koordinator.sh/qosClass":"BE"}},"spec":{"containers":[]}})");
  const auto held = podControls(*told, be);
  EXPECT_EQ(held.limit,
            "cpu-suppress holds all best-effort pods together to cpu.cfs_quota_us = 2000: 80 % of "
            "2000m");
  EXPECT_THAT(held.text, HasSubstr("Controls of all best-effort pods together:\n"
                                   "  kubepods/besteffort\n    cpu.cfs_quota_us = 2000"));
  const auto ls = decoded<api::Pod>(
      R"({"metadata":{"name":"p","uid":"u","labels":{"koordinator.sh/qosClass":"LS"}},"spec":{"containers":[]}})");
  EXPECT_EQ(podControls(*told, ls).limit, "");
}

TEST(ConfigReference, HasEveryKeyWithDefaultsAndWords) {
  const std::string page = configReference();
  EXPECT_THAT(page, HasSubstr("\n## resource-amplification-config\n"));
  EXPECT_THAT(page, HasSubstr("| `cpuSuppressThresholdPercent` | 0 to 100 | `65` | share of"));
  EXPECT_THAT(page, Not(HasSubstr("| `lsClass.")));
}

}  // namespace
}  // namespace mangrove::cli
