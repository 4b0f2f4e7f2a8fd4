#include "yarn/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mangrove::yarn {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Rounds : public ::testing::Test {
 protected:
  template <class T>
  static std::shared_ptr<const T> object(const std::string& text) {
    auto decoded = api::decodeText<T>(text);
    EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().text());
    return std::make_shared<const T>(std::move(*decoded));
  }
  void node(const std::string& name, const std::string& cores, const std::string& gib,
            const std::string& annotations = "", const std::string& spec = "{}") {
    nodes[name] = object<YarnNode>(
        R"({"metadata":{"name":")" + name + R"(","annotations":{)" + annotations + R"(}},"spec":)" +
        spec + R"(,"status":{"allocatable":{"kubernetes.io/batch-cpu":")" + cores +
        R"(000","kubernetes.io/batch-memory":")" + gib + R"(Gi"}}})");
  }
  void pod(const std::string& name, const std::string& on, const std::string& milli,
           const std::string& gib) {
    pods["d/" + name] = object<YarnPod>(
        R"({"metadata":{"name":")" + name + R"(","namespace":"d"},"spec":{"nodeName":")" + on +
        R"(","containers":[{"name":"c","resources":{"requests":{"kubernetes.io/batch-cpu":")" +
        milli + R"(","kubernetes.io/batch-memory":")" + gib +
        R"(Gi"}}}]},"status":{"phase":"Running"}})");
  }
  void manager(const std::string& name, const std::string& on, const std::string& annotations,
               const std::string& qos = "BE") {
    pods["y/" + name] = object<YarnPod>(
        R"({"metadata":{"name":")" + name +
        R"(","namespace":"y","labels":{"app.kubernetes.io/component":"node-manager",)"
        R"("koordinator.sh/qosClass":")" +
        qos + R"("},"annotations":{)" + annotations + R"(}},"spec":{"nodeName":")" + on +
        R"(","containers":[{"name":"c","resources":{"requests":{"kubernetes.io/batch-cpu":"500",)"
        R"("kubernetes.io/batch-memory":"1Gi"}}}]},)"
        R"("status":{"phase":"Running","startTime":"2026-11-17T14:00:00Z"}})");
  }
  RoundPlan plan(MonoTime now = MonoTime(seconds(1000))) {
    RoundPlan out = planRound({nodes, pods, yarn, reports, options, now, kWall});
    reports = out.reports;
    for (const CapacityUpdate& one : out.updates) reports[one.nodeId] = one.step.after;
    return out;
  }
  // The ResourceManager after it was told.
  void heard(const RoundPlan& said) {
    for (const CapacityUpdate& one : said.updates)
      for (RmNode& known : yarn)
        if (known.id == one.nodeId) known.total = one.step.to;
  }
  static std::vector<std::string> reasons(const RoundPlan& said) {
    std::vector<std::string> out;
    for (const Finding& one : said.findings) out.push_back(one.reason);
    return out;
  }

  const WallTime kWall = *parseTime("2026-11-17T15:00:00Z");
  Nodes nodes;
  Pods pods;
  std::vector<RmNode> yarn;
  Reports reports;
  SyncOptions options;
};

TEST_F(Rounds, CapacityIsWhatIsSoldWithoutWhatPodsAskedFor) {  // T-CA-8
  node("n1", "37", "96");
  pod("a", "n1", "9000", "16");
  manager("nm", "n1", R"("yarn.hadoop.apache.org/node-id":"n1:45454")");
  yarn = {{"n1:45454", "RUNNING", {1, 1024}, {}}};
  const RoundPlan first = plan();
  ASSERT_EQ(first.updates.size(), 1u);
  EXPECT_EQ(first.updates[0].step.to, (Capacity{28, 81'920}));
  ASSERT_EQ(first.pods.size(), 1u);
  EXPECT_EQ(first.pods[0].capacity, R"({"vcores":28,"memoryMb":81920})");
  EXPECT_THAT(first.findings, IsEmpty());
  heard(first);
  EXPECT_THAT(plan().updates, IsEmpty()) << "told once";

  yarn[0].used = {15, 15 * 1024};
  node("n1", "20", "96");
  const RoundPlan less = plan();
  ASSERT_EQ(less.updates.size(), 1u);
  EXPECT_EQ(less.updates[0].step.to.vcores, 11);
  EXPECT_EQ(less.updates[0].step.overcommit, Duration(seconds(30)));
  ASSERT_EQ(less.nodes.size(), 1u);
  EXPECT_EQ(less.nodes[0].thirdParties,
            R"({"allocations":[{"name":"hadoop-yarn","priority":"koord-batch","resources":)"
            R"({"kubernetes.io/batch-cpu":"15k","kubernetes.io/batch-memory":"16106127360"}}]})");
}

TEST_F(Rounds, WhatWasSoldBeforeThirdPartiesCounts) {
  node("n1", "10", "10",
       R"("node.koordinator.sh/originExtendedAllocatable":"{\"resources\":)"
       R"({\"kubernetes.io/batch-cpu\":\"30000\",\"kubernetes.io/batch-memory\":\"64Gi\"}}",)"
       R"("node.koordinator.sh/thirdPartyAllocations":"{\"allocations\":[{\"name\":\"other\",)"
       R"(\"priority\":\"koord-batch\",\"resources\":{\"kubernetes.io/batch-cpu\":\"1\"}}]}")");
  manager("nm", "n1", R"("yarn.hadoop.apache.org/node-id":"n1:1")");
  yarn = {{"n1:1", "RUNNING", {1, 1024}, {1, 512}}};
  const RoundPlan said = plan();
  EXPECT_EQ(said.updates.at(0).step.to, (Capacity{30, 65'536}));
  EXPECT_THAT(said.nodes.at(0).thirdParties, HasSubstr(R"("name":"other")"));
}

TEST_F(Rounds, ARegistrationForgetsAndIsMendedAtOnce) {
  node("n1", "20", "20");
  manager("nm", "n1", R"("yarn.hadoop.apache.org/node-id":"n1:1")");
  yarn = {{"n1:1", "RUNNING", {1, 1024}, {}}};
  heard(plan());
  EXPECT_EQ(yarn[0].total.vcores, 20);
  yarn[0].total = {1, 1024};  // as its yarn-site says
  const RoundPlan again = plan(MonoTime(seconds(1005)));
  ASSERT_EQ(again.updates.size(), 1u) << "not only after a minute";
  EXPECT_EQ(again.updates[0].step.to.vcores, 20);
}

TEST_F(Rounds, AClosedNodeHasWhatRunsThere) {
  node("n1", "20", "20", "", R"({"unschedulable":true})");
  manager("nm", "n1", R"("yarn.hadoop.apache.org/node-id":"n1:1")");
  yarn = {{"n1:1", "RUNNING", {20, 20'480}, {7, 7'168}}};
  EXPECT_EQ(plan().updates.at(0).step.to, (Capacity{7, 7'168}));
  node(
      "n1", "20", "20", "",
      R"({"taints":[{"key":"colocation.mangrove.io/colocation-draining","effect":"NoSchedule"}]})");
  EXPECT_EQ(plan(MonoTime(seconds(2000))).updates.at(0).step.to, (Capacity{7, 7'168}));
}

TEST_F(Rounds, WhoWaitsIsSpreadOverTheNodesOfYarn) {
  for (const char* name : {"n1", "n2"}) {
    node(name, "20", "20");
    manager(std::string("nm-") + name, name,
            std::string(R"("yarn.hadoop.apache.org/node-id":")") + name + R"(:1")");
    yarn.push_back({std::string(name) + ":1", "RUNNING", {20, 20'480}, {}});
  }
  pod("waits", "", "8000", "8");
  const RoundPlan said = plan();
  ASSERT_EQ(said.updates.size(), 2u);
  EXPECT_EQ(said.updates[0].step.to, (Capacity{16, 16'384}));
  EXPECT_EQ(said.updates[1].step.to, (Capacity{16, 16'384}));
}

TEST_F(Rounds, WhatIsWrongIsNamed) {
  node("n1", "20", "20");
  manager("a", "n1", "");
  manager("b", "n1", R"("yarn.hadoop.apache.org/node-id":"gone:1")");
  manager("c", "n1", R"("yarn.hadoop.apache.org/node-id":"sick:1")");
  manager("d", "n1", R"("yarn.hadoop.apache.org/node-id":"sick:1")");
  manager("e", "n1", R"("yarn.hadoop.apache.org/node-id":"n1:1")", "LS");
  yarn = {{"sick:1", "UNHEALTHY", {}, {}},
          {"n1:1", "RUNNING", {20, 20'480}, {}},
          {"far:1", "RUNNING", {8, 8'192}, {}}};
  EXPECT_THAT(reasons(plan()),
              ElementsAre(finding::kUnnamed, finding::kMissing, finding::kNotRunning,
                          finding::kTwice, finding::kNotBestEffort, finding::kForeign));
  options.cluster = "other";
  EXPECT_THAT(reasons(plan()), ElementsAre(finding::kForeign, finding::kForeign));
}

TEST_F(Rounds, MoreVcoresThanCores) {
  options.capacity.vcoresPerCpu = 10;
  node("n1", "2", "4");
  manager("nm", "n1", R"("yarn.hadoop.apache.org/node-id":"n1:1")");
  yarn = {{"n1:1", "RUNNING", {1, 1024}, {5, 512}}};
  const RoundPlan said = plan();
  EXPECT_EQ(said.updates.at(0).step.to.vcores, 20);
  EXPECT_THAT(said.nodes.at(0).thirdParties, HasSubstr(R"("kubernetes.io/batch-cpu":"500")"));
}

}  // namespace
}  // namespace mangrove::yarn
